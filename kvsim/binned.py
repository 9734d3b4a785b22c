"""Lengths of real requests, as counts in bins: ShareGPT, and two services of the Azure traces.

The tables lie in ``kvsim/data/``; their first lines say where the counts come from.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from kvsim import checks
from kvsim.kinds import one_of
from kvsim.workload import ExponentialLengths, FloatArray, IntArray

TABLES = ("sharegpt", "azure_conversation", "azure_code")


@dataclass(frozen=True)
class BinnedLengths:
    """Prompt and output lengths drawn together from a table of counts, and cut.

    A pair of bins is drawn in proportion to its count, and each length uniformly from its bin:
    the counts say no more. So prompts and outputs are as dependent as they were. They are cut as
    those of :class:`kvsim.workload.ExponentialLengths`. Raises ``ValueError`` for a table that is
    not among :data:`TABLES` and a ``max_length`` below 2.
    """

    table: str = "sharegpt"
    max_length: int = 2048

    def __post_init__(self) -> None:
        one_of("table", self.table, TABLES)
        checks.keep(self, checks.length, "max_length")

    def draw(
        self, prompts: np.random.Generator, outputs: np.random.Generator, count: int
    ) -> tuple[IntArray, IntArray]:
        """Draw ``count`` prompt and output lengths in tokens.

        ``prompts`` draws the pair of bins too. A larger ``count`` begins with the same requests.
        """
        table = _read(self.table)
        ends = np.cumsum(table.counts)
        which, within_prompt = prompts.random((count, 2)).T
        # A product just below the total may be rounded up to it.
        pair = np.searchsorted(ends, which * ends[-1], side="right").clip(max=len(ends) - 1)
        prompt = table.prompt_bins[pair] * table.bin_tokens + _within_bin(within_prompt, table)
        output = table.output_bins[pair] * table.bin_tokens
        output = output + _within_bin(outputs.random(count), table)
        prompt = prompt.clip(max=self.max_length - 1)
        return prompt, output.clip(max=self.max_length - prompt)

    def cached_tokens_pmf(self) -> FloatArray:
        """Probability that a running request holds ``c`` tokens at a random pass.

        Entry ``c`` of ``max_length`` entries. The weight of c is the sum over p of
        P(prompt = p, output > c - p). A prompt that is cut holds ``max_length - 1`` tokens in its
        only pass; cutting outputs only drops c >= ``max_length``.
        """
        width, longest = _read(self.table).bin_tokens, self.max_length
        weights = np.zeros(longest)
        for shortest, above in self._outputs_above():
            spread = np.convolve(above, np.full(width, 1 / width))[: max(longest - shortest, 0)]
            weights[shortest : shortest + len(spread)] += spread
            cut = (shortest + width - longest) / width  # of this bin's prompts
            weights[-1] += above[0] * min(max(cut, 0), 1)
        pmf: FloatArray = weights / weights.sum()
        return pmf

    def prompt_pmf(self) -> FloatArray:
        """Probability of a prompt of ``p`` tokens, for each p below ``max_length``."""
        return self._by_prompt(lambda above, left: np.full(len(left), above[0]))

    def output_by_prompt(self) -> FloatArray:
        """Mean output by prompt, times its probability: outputs are cut at what is left."""

        def mean_output(above: FloatArray, left: IntArray) -> FloatArray:
            up_to = np.append(0, np.cumsum(above))
            mean: FloatArray = up_to[left.clip(max=len(above))]
            return mean

        return self._by_prompt(mean_output)

    def _by_prompt(self, amount: Callable[[FloatArray, IntArray], FloatArray]) -> FloatArray:
        """Sum over bins of prompts an amount that follows from outputs and the tokens left."""
        width, longest = _read(self.table).bin_tokens, self.max_length
        total = np.zeros(longest)
        requests = 0.0
        for shortest, above in self._outputs_above():
            prompt = np.arange(shortest, shortest + width).clip(max=longest - 1)
            np.add.at(total, prompt, amount(above, longest - prompt) / width)
            requests += above[0]
        return total / requests

    def _outputs_above(self) -> Iterator[tuple[int, FloatArray]]:
        """The shortest prompt of each bin, and how many outputs exceed 0, 1, 2, ... tokens."""
        table = _read(self.table)
        width = table.bin_tokens
        for prompt_bin in np.unique(table.prompt_bins).tolist():
            here = table.prompt_bins == prompt_bin
            outputs = np.bincount(table.output_bins[here], table.counts[here])
            above = outputs.sum() - np.append(0, np.cumsum(np.repeat(outputs / width, width)))
            yield prompt_bin * width + 1, above


@dataclass(frozen=True, eq=False)
class _Table:
    """Bin k holds the lengths from ``bin_tokens * k + 1`` to ``bin_tokens * (k + 1)``."""

    bin_tokens: int
    prompt_bins: IntArray
    output_bins: IntArray
    counts: IntArray


@cache
def _read(name: str) -> _Table:
    text = files("kvsim").joinpath("data", f"{name}_lengths.csv").read_text("utf-8")
    header = re.search(r"Bin k holds lengths (\d+)k\+1", text)
    assert header is not None, f"the table {name} does not say how wide its bins are"
    rows = [line for line in text.splitlines() if line[0].isdigit()]
    columns = np.array([row.split(",") for row in rows], np.int64).T
    columns.flags.writeable = False
    return _Table(int(header[1]), *columns)


def _within_bin(unit: FloatArray, table: _Table) -> IntArray:
    """Turn numbers from 0 to below 1 into places within a bin, from 1."""
    return (unit * table.bin_tokens).astype(np.int64) + 1


# The artifact of the SOSP 2023 paper drops requests of more than 2,048 tokens (OPT's maximum).
SHAREGPT = BinnedLengths("sharegpt", max_length=2048)
# The longest requests of the Azure traces have 14,090 and 7,700 tokens; these hold all of them.
AZURE_CONVERSATION = BinnedLengths("azure_conversation", max_length=16384)
AZURE_CODE = BinnedLengths("azure_code", max_length=8192)

# All workloads that are known by name.
WORKLOADS: dict[str, ExponentialLengths | BinnedLengths] = {
    "exponential": ExponentialLengths(),
    "sharegpt": SHAREGPT,
    "azure-conversation": AZURE_CONVERSATION,
    "azure-code": AZURE_CODE,
}
