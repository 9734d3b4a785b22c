"""The frames of the figure of shared blocks: two requests, several samples each, step by step.

They are made by :mod:`kvsim`'s block tables, whose operations are the steps. Beside them stands
what contiguous allocation would do with the same memory: every sample needs a region of its own.
The sentences of the steps are in static/words.en.json, as ``sharing_step_...``.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from kvsim import BlockPool, BlockTable, BlockTables
from kvsim.block_manager.pool import BlockState, Event

from .. import words

BLOCKS = 32
BLOCK_SIZE = 4
REGION_TOKENS = 32  # the maximum length that contiguous allocation reserves
REGIONS = BLOCKS * BLOCK_SIZE // REGION_TOKENS
SAMPLES = range(1, 9)
SYSTEM_TOKENS = 8
OWN_TOKENS = {"A": 6, "B": 5, "C": 3}  # of the requests' prompts
_ASIDE = 1000  # token ids from here on are a request's own

Frame = dict[str, Any]


@cache
def described() -> dict[str, Any]:
    """Return all frames for the page, as a JSON-able value.

    ``stories[keep][system][samples - 1]`` is a list of frames, ``keep`` and ``system`` being 0 or
    1. A frame says what is new since the one before; before the first, every block is
    ``[0, 0, 0]``, and there are no tables, no regions in use and nobody waiting.

    - ``step``, ``values``: the name of its sentence and what is filled in.
    - ``events``: ``[kind, block]``, for a copy ``["copy", block, source]``, in their order; kinds
      are those of :class:`kvsim.block_manager.pool.Event`.
    - ``blocks``: ``[number, count, filled, kept]`` of each block that has changed: the tables that
      hold it, its tokens, and 1 if its contents outlive them.
    - ``tables``: by name ("A1": the first sample of request A) the blocks of each table that has
      changed, ``null`` if it has ended.
    - ``used``, ``unshared``: blocks in use, and blocks that the same tables would hold if they
      shared none.
    - ``regions``: ``[number, name, tokens]`` of each contiguous region that has changed; a free one
      has the name ``null`` and 0 tokens. ``waiting``: the names of those for whom there is none.
    """
    return {
        "blocks": BLOCKS,
        "block_size": BLOCK_SIZE,
        "system_tokens": SYSTEM_TOKENS,
        "regions": REGIONS,
        "region_tokens": REGION_TOKENS,
        "samples": list(SAMPLES),
        "stories": [
            [[frames(samples, system, keep) for samples in SAMPLES] for system in (False, True)]
            for keep in (False, True)
        ],
    }


def sentence(frame: Frame) -> str:
    """Write what happens in a frame."""
    return words.fill(frame["step"], **frame["values"])


def frames(samples: int, system: bool, keep: bool) -> list[Frame]:
    """Tell one story: so many ``samples`` a request, with a system prompt or not."""
    story = _Story(keep)
    story.show("start", blocks=BLOCKS, block_size=BLOCK_SIZE)
    story.arrive("A", system)
    story.fork("A", samples)
    for name in story.names("A"):
        story.write_first(name)
    story.write_next("A")
    story.write_next("A")
    story.arrive("B", system)
    story.fork("B", samples)
    story.write_all_first("B")
    for name in story.names("A"):
        story.end([name])
    story.end(story.names("B"))
    story.arrive("C", system)
    return story.frames


class _Story:
    """What has been told so far, and the tables and regions as they are now."""

    def __init__(self, keep: bool) -> None:
        self.frames: list[Frame] = []
        self._events: list[Event] = []
        self._tables = BlockTables(BlockPool(BLOCKS, BLOCK_SIZE, keep, self._events))
        self._named: dict[str, BlockTable] = {}
        self._fresh = _ASIDE
        self._shown_blocks = self._blocks()
        self._shown_tables: dict[str, list[int]] = {}
        self._shown_regions: list[tuple[str | None, int]] = [(None, 0)] * REGIONS
        self._regions = _Regions()

    def names(self, request: str) -> list[str]:
        """Return the names of a request's samples that have not ended."""
        return [name for name in self._named if name.startswith(request)]

    def arrive(self, request: str, system: bool) -> None:
        """Prefill a prompt; what the cache has of it is shared."""
        beginning = list(range(SYSTEM_TOKENS)) if system else []
        prompt = beginning + self._own(OWN_TOKENS[request])
        table = self._named[f"{request}1"] = self._tables.allocate(prompt)
        values: dict[str, int | str] = {"request": request, "prompt": len(prompt)}
        values["taken"] = self._happened("take")
        if table.found:
            shared = self._happened("share")
            self.show("arrive_shared", found=table.found, shared=shared, **values)
        else:
            self.show("arrive", **values)

    def fork(self, request: str, samples: int) -> None:
        """Give each sample a table; the only one has its own already."""
        if samples == 1:
            return
        first = self._named[f"{request}1"]
        for number in range(2, samples + 1):
            self._named[f"{request}{number}"] = self._tables.fork(first)
        self.show("fork", request=request, samples=samples)

    def write_first(self, name: str) -> None:
        """Write one sample's first token: into a copy if others hold the last block."""
        table = self._named[name]
        holders = self._tables.pool.count(table.blocks[-1])
        if self._tables.append(table, self._own(1)):
            self.show("copy", sample=name, holders=holders)
        else:
            self.show("in_place", sample=name)

    def write_all_first(self, request: str) -> None:
        """Write the first token of every sample, in one step."""
        names = self.names(request)
        if len(names) == 1:
            self.write_first(names[0])
            return
        self._write(names)
        self.show("copies", request=request, copies=self._happened("copy"))

    def write_next(self, request: str) -> None:
        """Write a further token of every sample."""
        self._write(self.names(request))
        taken = self._happened("take")
        if taken:
            self.show("grow", request=request, taken=taken)
        else:
            self.show("room", request=request)

    def end(self, names: list[str]) -> None:
        """Let samples end, all of one request."""
        tables = [self._named.pop(name) for name in names]
        left = {block for table in tables for block in table.blocks}
        for table in tables:
            self._tables.free(table)
        now = self._blocks()
        values = {
            "held": sum(now[block].count > 0 for block in left),
            "freed": sum(now[block].count == 0 for block in left),
            "kept": sum(now[block].kept for block in left),
        }
        if len(names) == 1:
            self.show("end", sample=names[0], **values)
        else:
            self.show("end_all", request=names[0][0], **values)

    def show(self, step: str, **values: int | str) -> None:
        """Add a frame of what has changed since the last one."""
        blocks = self._blocks()
        tables = {name: table.blocks.copy() for name, table in self._named.items()}
        lengths = {name: table.length for name, table in self._named.items()}
        regions, waiting = self._regions.hold(lengths)
        self.frames.append(
            {
                "step": f"sharing_step_{step}",
                "values": values,
                "events": [_short(event) for event in self._events],
                "blocks": [
                    [number, block.count, block.filled, int(block.kept)]
                    for number, block in enumerate(blocks)
                    if block != self._shown_blocks[number]
                ],
                "tables": {
                    name: tables.get(name)
                    for name in {**self._shown_tables, **tables}
                    if tables.get(name) != self._shown_tables.get(name)
                },
                "used": sum(block.count > 0 for block in blocks),
                "unshared": sum(map(len, tables.values())),
                "regions": [
                    [number, *region]
                    for number, region in enumerate(regions)
                    if region != self._shown_regions[number]
                ],
                "waiting": waiting,
            }
        )
        self._events.clear()
        self._shown_blocks, self._shown_tables, self._shown_regions = blocks, tables, regions

    def _write(self, names: Iterable[str]) -> None:
        for name in names:
            self._tables.append(self._named[name], self._own(1))

    def _own(self, tokens: int) -> list[int]:
        """Return token ids that nobody else has."""
        self._fresh += tokens
        return list(range(self._fresh - tokens, self._fresh))

    def _happened(self, kind: str) -> int:
        return sum(event.kind == kind for event in self._events)

    def _blocks(self) -> tuple[BlockState, ...]:
        return self._tables.pool.state().blocks


class _Regions:
    """Who would have a region of the maximum length, had each sample to have one.

    This compares room at each moment; it is no second run. Whoever lives in the paged cache asks
    for a region, first come first served, and keeps it to its end; the others wait.
    """

    def __init__(self) -> None:
        self._holders: list[str | None] = [None] * REGIONS

    def hold(self, lengths: dict[str, int]) -> tuple[list[tuple[str | None, int]], list[str]]:
        """Return who has which region, and who waits; ``lengths`` are in order of arrival."""
        self._holders = [name if name in lengths else None for name in self._holders]
        waiting = [name for name in lengths if name not in self._holders]
        for region, name in enumerate(self._holders):
            if name is None and waiting:
                self._holders[region] = waiting.pop(0)
        return [(name, lengths[name] if name else 0) for name in self._holders], waiting


def _short(event: Event) -> list[Any]:
    place = [event.block] if event.source is None else [event.block, event.source]
    return [event.kind, *place]
