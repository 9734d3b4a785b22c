"""Lengths of a trace's requests, as a distribution to draw from."""

from dataclasses import dataclass, field

import numpy as np

from kvsim import checks
from kvsim.workload import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class TraceLengths:
    """The lengths of a trace's requests, drawn with replacement, and cut.

    A prompt and its output are drawn together, so they are as dependent as they were. They are cut
    as those of :class:`kvsim.workload.ExponentialLengths`: prompts at ``max_length - 1``, outputs
    at ``max_length - prompt``. Raises ``ValueError`` for a ``max_length`` below 2.
    """

    prompt_tokens: IntArray = field(repr=False)
    output_tokens: IntArray = field(repr=False)
    max_length: int

    def __post_init__(self) -> None:
        checks.keep(self, checks.length, "max_length")
        prompt = self.prompt_tokens.clip(max=self.max_length - 1)
        output = self.output_tokens.clip(max=self.max_length - prompt)
        for name, value in (("prompt_tokens", prompt), ("output_tokens", output)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    def draw(
        self, prompts: np.random.Generator, outputs: np.random.Generator, count: int
    ) -> tuple[IntArray, IntArray]:
        """Draw ``count`` prompt and output lengths in tokens; ``prompts`` draws both.

        A larger ``count`` begins with the same requests.
        """
        # A product just below the number of rows may be rounded up to it.
        rows = (prompts.random(count) * len(self.prompt_tokens)).astype(np.int64)
        rows = rows.clip(max=len(self.prompt_tokens) - 1)
        return self.prompt_tokens[rows], self.output_tokens[rows]

    def cached_tokens_pmf(self) -> FloatArray:
        """Probability that a running request holds ``c`` tokens at a random pass.

        Entry ``c`` of ``max_length`` entries. A request holds p, p + 1, ..., p + o - 1 tokens
        after its o passes, so c has the weight of the requests with p <= c < p + o.
        """
        size = self.max_length + 1
        begin = np.bincount(self.prompt_tokens, minlength=size)
        end = np.bincount(self.prompt_tokens + self.output_tokens, minlength=size)
        weights = np.cumsum(begin - end)[:-1]
        pmf: FloatArray = weights / weights.sum()
        return pmf

    def prompt_pmf(self) -> FloatArray:
        """Probability of a prompt of ``p`` tokens, for each p below ``max_length``."""
        pmf: FloatArray = self._by_prompt() / len(self.prompt_tokens)
        return pmf

    def output_by_prompt(self) -> FloatArray:
        """Mean output of a request with a prompt of ``p`` tokens, times that prompt's probability.

        Its sum is the mean output.
        """
        mean: FloatArray = self._by_prompt(self.output_tokens) / len(self.prompt_tokens)
        return mean

    def _by_prompt(self, weights: IntArray | None = None) -> FloatArray:
        return np.bincount(self.prompt_tokens, weights, self.max_length).astype(np.float64)
