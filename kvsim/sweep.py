"""Many settings, over whatever processes or machines an executor spreads them."""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import closing

from kvsim.kinds import shown
from kvsim.setting import Setting
from kvsim.summary import Summary


class SweepError(RuntimeError):
    """A setting of a sweep could not be simulated, for a ``reason``, which is also its cause.

    ``index`` is its place among the settings.
    """

    def __init__(self, index: int, setting: Setting, reason: Exception) -> None:
        super().__init__(index, setting, reason)
        self.index = index
        self.setting = setting
        self.reason = reason

    def __str__(self) -> str:
        """Name the setting and the reason."""
        return f"Setting {self.index} failed: {self.reason} It is {self.setting!r}."


def sweep(
    settings: Sequence[Setting],
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Summary]:
    """Simulate settings; yield their summaries in the order of the settings, as they are ready.

    ``executor`` is any :class:`concurrent.futures.Executor`, of threads, processes or a cluster;
    without one everything is simulated in this process. ``progress`` is called with the number
    of summaries yielded so far and of all. Work is handed out with the first summary that is
    asked for. Whoever stops early (by leaving the loop, closing the iterator, an exception)
    cancels what has not begun, and gets back control when what has begun has ended; a Dask
    worker ends what it has begun by itself. The executor is left open.

    Raises ``ValueError`` at once if something among ``settings`` is no :class:`Setting`, and
    :class:`SweepError` in place of the summary of a setting that fails.
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ValueError(f"executor is {shown(executor)}: give one of concurrent.futures, or None.")
    if progress is not None and not callable(progress):
        raise ValueError(f"progress is {shown(progress)}: give a function of two numbers, or None.")
    try:
        settings = list(settings)
    except TypeError:
        raise ValueError(f"settings is {shown(settings)}: give a list of Settings.") from None
    for index, setting in enumerate(settings):
        if not isinstance(setting, Setting):
            raise ValueError(f"settings[{index}] is {shown(setting)}: give a Setting.")
    summaries = _in_turn(settings) if executor is None else _spread(settings, executor)
    return _told(summaries, len(settings), progress)


def _told(
    summaries: Generator[Summary, None, None],
    total: int,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Summary]:
    with closing(summaries):
        for done, summary in enumerate(summaries, 1):
            if progress is not None:
                progress(done, total)
            yield summary


def _in_turn(settings: list[Setting]) -> Generator[Summary, None, None]:
    for index, setting in enumerate(settings):
        try:
            summary = setting.summary()
        except Exception as error:
            raise SweepError(index, setting, error) from error
        yield summary


def _spread(settings: list[Setting], executor: Executor) -> Generator[Summary, None, None]:
    futures: list[Future[Summary]] = []
    try:
        futures += (executor.submit(Setting.summary, setting) for setting in settings)
        for index, future in enumerate(futures):
            try:
                summary = future.result()
            except Exception as error:
                raise SweepError(index, settings[index], error) from error
            yield summary
    finally:
        # A future that can be cancelled has not begun; all of them, before any is waited for.
        wait([future for future in futures if not future.cancel()])
