"""The controls of the page's further sections: each has a table of its own.

The workshop's are in settings.py; every one of those is an axis of the atlases. These are not.
Names and URL keys differ throughout the page: all controls have one link in common.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import param

from ..settings import Choice, Settings, choices


class Sharing(param.Parameterized):
    """The section on shared blocks."""

    samples = Choice(
        default=4,
        objects=range(1, 9),
        label="Samples of each prompt",
        unit="samples",
        key="samples",
        doc="answers to one prompt, begun together",
    )
    system_tokens = Choice(
        default=512,
        objects=[0, *(2**n for n in range(6, 13))],
        label="System prompt",
        unit="tokens",
        key="system",
        doc="with which every prompt begins",
    )
    prompt_rate = Choice(
        default=0.5,
        objects=[0.25, 0.5, 1, 2, 4, 8, 16, 32],
        label="Prompt rate",
        unit="prompts/s",
        key="prompts",
        doc="arrivals on average, each with all of its samples",
    )
    keep_prefixes = Choice(
        default=0,
        objects=[0, 1],
        label="Keep prefixes",
        unit="",
        key="keep",
        doc="cached beginnings stay until their blocks are needed",
    )


class Overcommit(param.Parameterized):
    """The section on a full cache: past the sustained rate, where requests are pre-empted."""

    overcommit_rate = Choice(
        default=32,
        objects=range(20, 41, 4),
        label="Offered rate",
        unit="requests/s",
        key="offered",
        doc="arrivals on average, for one minute",
    )
    overcommit_block_size = Choice(
        default=16,
        objects=[4**n for n in range(5)],
        label="Tokens in a block",
        unit="tokens",
        key="tokens",
        doc="what a request takes at a time, and a swap moves",
    )
    watermark = Choice(
        default=0,
        objects=[0, 0.1, 0.2, 0.5, 1, 2, 5],
        label="Admission watermark",
        unit="%",
        key="watermark",
        doc="of all blocks stay free when a request is admitted",
    )
    preemption = Choice(
        default="recompute",
        objects=["recompute", "swap"],
        label="Way back",
        unit="",
        key="back",
        doc="how a pre-empted request gets its cache again",
    )
    copy_charge = Choice(
        default=0,
        objects=[0, 1],
        label="Charge for moving each block",
        unit="",
        key="copies",
        doc="of a swap; derived from figure 19 of the paper, not published",
    )


# By the name that the page's script knows a section by; and the settings of each.
Sections = dict[str, Any]
SECTIONS: dict[str, type[param.Parameterized]] = {
    "sharing": Sharing,
    "overcommit": Overcommit,
}


def opened(given: Mapping[str, Any]) -> Sections:
    """Return every section's settings: those given, by name, and its own defaults."""
    return {
        name: table(**{each: given[each] for each, _ in choices(table) if each in given})
        for name, table in SECTIONS.items()
    }


def every_choice() -> Iterator[tuple[str, Choice]]:
    """Yield the name and the parameter of every control of the page."""
    tables: tuple[type[param.Parameterized], ...] = (Settings, *SECTIONS.values())
    for table in tables:
        yield from choices(table)
