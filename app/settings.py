"""What a reader can set: the one table of controls that everything else reads.

Names, values, defaults, units and URL keys stand here and nowhere else: the sliders, the link, the
atlas's axes and the page's script are made from it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import param

# Kwon et al. (2023), figure 18a: the paged kernel is 20 to 26 % slower at blocks of 16 tokens.
# Read as a fixed cost a block: 0.23 x 16 tokens.
BLOCK_OVERHEAD_TOKENS = 3.7


WORKLOADS = ("exponential", "sharegpt", "azure-conversation", "azure-code")
# The plate's own slots, and the paper's baselines by allocator and estimate.
RESERVATIONS = (
    "slots",
    *(
        f"{kind}-{estimate}"
        for kind in ("buddy", "firstfit")
        for estimate in ("max", "pow2", "oracle")
    ),
)


class Choice(param.Selector[Any]):
    """One of a few numbers or names, with the unit it is shown in and its key in a link."""

    __slots__ = ["key", "unit"]

    def __init__(self, *, key: str, unit: str, objects: Sequence[Any], **params: Any) -> None:
        super().__init__(objects=list(objects), **params)
        self.key = key
        self.unit = unit

    @property
    def kind(self) -> str:
        """What a reader sets it with: a range, a switch, or a list of names."""
        if isinstance(self.default, str):
            return "select"
        return "switch" if len(self.objects) == 2 else "range"

    def spell(self, value: Any) -> str:
        """Write a value as a link does."""
        return value if isinstance(value, str) else f"{value:g}"

    @property
    def allowed(self) -> str:
        """What it can be set to, in words."""
        return self.allowed_as("{low} to {high}", "{most} or {last}")

    def allowed_as(self, between: str, one_of: str) -> str:
        """Say what it can be set to, in the words of another language."""
        values = [self.spell(value) for value in self.objects]
        if len(values) > 10:
            return between.format(low=values[0], high=values[-1])
        *most, last = values
        return one_of.format(most=", ".join(most), last=last)


class Settings(param.Parameterized):
    """A position of the workshop's controls."""

    block_size = Choice(
        default=16,
        objects=[2**n for n in range(9)],
        label="Block size",
        unit="tokens",
        key="block",
        doc="what a paged request takes at a time",
    )
    max_length = Choice(
        default=8192,
        objects=[2**n for n in range(10, 18)],
        label="Maximum length",
        unit="tokens",
        key="maxlen",
        doc="what a contiguous request reserves",
    )
    rate = Choice(
        default=18,
        objects=range(1, 41),
        label="Request rate",
        unit="requests/s",
        key="rate",
        doc="arrivals on average, at random times",
    )
    block_overhead = Choice(
        default=0.0,
        objects=[0.0, BLOCK_OVERHEAD_TOKENS],
        label="Charge for fetching each block",
        unit="tokens",
        key="overhead",
        doc=f"as the reading of {BLOCK_OVERHEAD_TOKENS} tokens more",
    )
    workload = Choice(
        default="exponential",
        objects=WORKLOADS,
        label="Lengths of requests",
        unit="",
        key="work",
        doc="where prompt and output lengths come from",
    )
    reservation = Choice(
        default="slots",
        objects=RESERVATIONS,
        label="Contiguous allocation reserves",
        unit="",
        key="reserve",
        doc="what is set aside for a request, and how memory is divided",
    )


NAMES = ("block_size", "max_length", "rate", "block_overhead", "workload", "reservation")


def choices(table: type[param.Parameterized] = Settings) -> Iterator[tuple[str, Choice]]:
    """Yield the name and the parameter of each control, in the order of the page.

    Those of the workshop, or of another ``table``.
    """
    for name in table.param:
        if isinstance(table.param[name], Choice):
            yield name, cast(Choice, table.param[name])


def values(name: str) -> list[Any]:
    """Return the values that a control can take, in order."""
    return list(Settings.param[name].objects)
