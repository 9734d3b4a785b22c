"""A setting as the lines of Python that simulate it again."""

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from kvsim.kinds import of_kind
from kvsim.setting import Setting
from kvsim.traces.lengths import TraceLengths
from kvsim.traces.replay import Replay
from kvsim.traces.trace import Trace

_ALWAYS = ("rate_per_s", "replications", "seed", "duration_s")


def python_lines(setting: Setting | Replay) -> str:
    """Return Python that simulates a setting again: into ``summary``, and ``limits`` at its rate.

    What differs from the defaults is written out, and so are the traffic and its seed. A trace is
    read from the file ``trace.csv``. Raises ``ValueError`` for a setting that holds something that
    is not kvsim's own.
    """
    of_kind("setting", setting, Setting, Replay)
    kind = type(setting).__name__
    used = {kind}
    arguments = [
        f"    {name}={text},\n" for name, text in _arguments(setting, None, used, _ALWAYS).items()
    ]
    standard = "from dataclasses import replace\n\n" if "replace" in used else ""
    return (
        f"{standard}from kvsim import {', '.join(sorted(used - {'replace'}))}\n\n"
        f"setting = {kind}(\n{''.join(arguments)})\n"
        "summary = setting.summary()\n"
        "limits = setting.binding_limits()\n"
        "print(summary.figures(), limits.names)\n"
    )


def _expression(value: Any, used: set[str]) -> str:
    """Return the expression that makes a value; add the names that it needs to ``used``."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Trace | TraceLengths):
        used.add("read_trace")
        options = ", leave_out_bad_rows=True" if getattr(value, "bad_rows", ()) else ""
        trace = f'read_trace(open("trace.csv", "rb").read(){options})'
        return trace if isinstance(value, Trace) else f"{trace}.lengths({value.max_length})"
    # It imports this module.
    import kvsim

    kind = type(value).__name__
    if not is_dataclass(value) or getattr(kvsim, kind, None) is not type(value):
        raise ValueError(
            f"{value!r} cannot be written as Python: it is not made of what kvsim exports."
        )
    presets = {
        name: preset
        for name in kvsim.__all__
        if type(preset := getattr(kvsim, name)) is type(value)
    }
    for name, preset in presets.items():
        if preset == value:
            used.add(name)
            return name
    for name, preset in presets.items():
        # A preset, but for example with other efficiencies.
        if getattr(preset, "name", None) == getattr(value, "name", preset):
            used |= {name, "replace"}
            return f"replace({name}, {_joined(_arguments(value, preset, used))})"
    used.add(kind)
    return f"{kind}({_joined(_arguments(value, None, used))})"


def _arguments(
    value: Any, preset: Any, used: set[str], always: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return the fields in which a value differs from a preset, or from its class's defaults."""
    arguments = {}
    for field in fields(value):
        if preset is not None:
            usual = getattr(preset, field.name)
        elif field.default_factory is not MISSING:
            usual = field.default_factory()
        else:
            usual = field.default
        if field.name in always or getattr(value, field.name) != usual:
            arguments[field.name] = _expression(getattr(value, field.name), used)
    return arguments


def _joined(arguments: dict[str, str]) -> str:
    return ", ".join(f"{name}={text}" for name, text in arguments.items())
