"""What is asked of the server: requests, and the distribution that their lengths come from."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kvsim import checks

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Requests:
    """Requests in order of arrival.

    ``arrival_s`` (seconds, ascending from 0 or later), ``prompt_tokens`` and ``output_tokens``
    (whole numbers of at least 1) are one-dimensional and equally long.

    Of every ``samples`` in succession the prompt is the same: they are answers to one prompt that
    arrive together (parallel sampling). The first ``shared_tokens`` of all prompts are a system
    prompt that they have in common; each has at least a token more. Raises ``ValueError`` that
    names the first offending request.
    """

    arrival_s: FloatArray
    prompt_tokens: IntArray
    output_tokens: IntArray
    samples: int = 1
    shared_tokens: int = 0

    def __init__(
        self,
        arrival_s: ArrayLike,
        prompt_tokens: ArrayLike,
        output_tokens: ArrayLike,
        samples: int = 1,
        shared_tokens: int = 0,
    ) -> None:
        arrival = _numbers("arrival_s", arrival_s)
        prompt = _lengths("prompt_tokens", prompt_tokens)
        output = _lengths("output_tokens", output_tokens)
        if not len(arrival) == len(prompt) == len(output):
            raise ValueError(
                f"arrival_s, prompt_tokens and output_tokens have {len(arrival)}, {len(prompt)} "
                f"and {len(output)} entries: give one of each for every request."
            )
        _refuse_first("arrival_s", arrival, arrival < 0, "0 or later")
        late = np.append(False, np.diff(arrival) < 0) if len(arrival) else np.zeros(0, bool)
        _refuse_first("arrival_s", arrival, late, "no earlier than the one before it: sort them")
        _refuse_unlike(arrival, prompt, checks.whole("samples", samples))
        least = checks.whole("shared_tokens", shared_tokens, least=0) + 1
        _refuse_first(
            "prompt_tokens",
            prompt,
            prompt < least,
            f"at least {least:,}: shared_tokens and one more",
        )
        for name, value in (
            ("arrival_s", arrival),
            ("prompt_tokens", prompt),
            ("output_tokens", output),
        ):
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "samples", int(samples))
        object.__setattr__(self, "shared_tokens", int(shared_tokens))

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self.arrival_s)

    @property
    def final_tokens(self) -> IntArray:
        """Cached tokens of each request at its end: its last output token is never cached."""
        return self.prompt_tokens + self.output_tokens - 1


def _refuse_unlike(arrival: FloatArray, prompt: IntArray, samples: int) -> None:
    """Raise ``ValueError`` unless all samples of a prompt have its length and arrive with it."""
    if len(prompt) % samples:
        raise ValueError(
            f"samples is {samples}, but there are {len(prompt)} requests: give every prompt as "
            "many."
        )
    for name, values in (("arrival_s", arrival), ("prompt_tokens", prompt)):
        first = np.repeat(values[::samples], samples)
        _refuse_first(name, values, values != first, f"that of all {samples} samples of its prompt")


def _numbers(name: str, values: ArrayLike) -> FloatArray:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} is {values!r}: it must be a list of numbers.") from error
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions: it must be a flat list of numbers.")
    _refuse_first(name, array, ~np.isfinite(array), "finite")
    return array


def _lengths(name: str, values: ArrayLike) -> IntArray:
    array = _numbers(name, values)
    bad = (array < 1) | (array != np.rint(array))
    _refuse_first(name, array, bad, "a whole number of at least 1")
    # Beyond it a float no longer tells one token from the next.
    _refuse_first(name, array, array > 2**53, "at most 2**53 tokens")
    return array.astype(np.int64)


def _refuse_first(name: str, values: NDArray[Any], bad: NDArray[np.bool_], must_be: str) -> None:
    if bad.any():
        first = int(bad.argmax())
        value = values[first].item()
        raise ValueError(f"{name} of request {first} is {value!r}: it must be {must_be}.")


class Lengths(Protocol):
    """A distribution of prompt and output lengths, together at most ``max_length`` tokens."""

    @property
    def max_length(self) -> int:
        """Most tokens of a request, prompt and output together."""

    def draw(
        self, prompts: np.random.Generator, outputs: np.random.Generator, count: int
    ) -> tuple[IntArray, IntArray]:
        """Draw prompt and output lengths; a larger ``count`` begins with the same requests."""

    def cached_tokens_pmf(self) -> FloatArray:
        """Probability that a running request holds ``c`` tokens at a random pass, for each c."""

    def prompt_pmf(self) -> FloatArray:
        """Probability of a prompt of ``p`` tokens, for each p below ``max_length``."""

    def output_by_prompt(self) -> FloatArray:
        """Mean output of a request with a prompt of ``p`` tokens, times that prompt's probability.

        Its sum is the mean output; divided by that, the probability that a running request has
        such a prompt at a random pass.
        """


@dataclass(frozen=True)
class ExponentialLengths:
    """Exponential prompt and output lengths, rounded to whole tokens of at least 1, and cut.

    Prompts are cut at ``max_length - 1`` and outputs at ``max_length - prompt``, so that a request
    never exceeds ``max_length`` tokens. Raises ``ValueError`` for means that are not above zero
    and a ``max_length`` below 2.
    """

    mean_prompt_tokens: float = 1024
    mean_output_tokens: float = 256
    max_length: int = 8192

    def __post_init__(self) -> None:
        checks.keep(self, checks.positive, "mean_prompt_tokens", "mean_output_tokens")
        checks.keep(self, checks.length, "max_length")

    def draw(
        self, prompts: np.random.Generator, outputs: np.random.Generator, count: int
    ) -> tuple[IntArray, IntArray]:
        """Draw ``count`` prompt and output lengths in tokens, each from a stream of its own."""
        prompt = np.rint(self.mean_prompt_tokens * prompts.standard_exponential(count))
        prompt = prompt.clip(1, self.max_length - 1)
        output = np.rint(self.mean_output_tokens * outputs.standard_exponential(count))
        output = output.clip(1, self.max_length - prompt)
        return prompt.astype(np.int64), output.astype(np.int64)

    def cached_tokens_pmf(self) -> FloatArray:
        """Probability that a running request holds ``c`` tokens at a random pass.

        Entry ``c`` of ``max_length`` entries. A request holds p, p + 1, ..., p + o - 1 tokens
        after its o passes, so the weight of c is the sum over p of P(prompt = p) x
        P(output > c - p); cutting outputs at ``max_length - p`` only drops c >= ``max_length``.
        """
        weights = _convolve(self.prompt_pmf(), self._output_above())[: self.max_length]
        pmf: FloatArray = weights / weights.sum()
        return pmf

    def prompt_pmf(self) -> FloatArray:
        """Probability of a prompt of ``p`` tokens, for each p below ``max_length``."""
        tokens = np.arange(self.max_length)
        prompt_above = _rounded_exponential_survival(tokens, self.mean_prompt_tokens)
        prompt_above[-1] = 0  # cut: no prompt is longer than max_length - 1
        return np.append(0, -np.diff(prompt_above))

    def output_by_prompt(self) -> FloatArray:
        """Mean output by prompt, times its probability: outputs are cut at what is left."""
        mean_output = np.append(0, np.cumsum(self._output_above())[:-1])[::-1]
        by_prompt: FloatArray = self.prompt_pmf() * mean_output
        return by_prompt

    def _output_above(self) -> FloatArray:
        """P(output > tokens), before it is cut."""
        return _rounded_exponential_survival(np.arange(self.max_length), self.mean_output_tokens)


def _rounded_exponential_survival(tokens: IntArray, mean: float) -> FloatArray:
    """P(length > tokens), where the length is exponential, rounded, and at least 1."""
    survival: FloatArray = np.exp(-(tokens + 0.5) / mean)
    survival[0] = 1
    return survival


def _convolve(left: FloatArray, right: FloatArray) -> FloatArray:
    size = 1 << (len(left) + len(right) - 2).bit_length()
    product = np.fft.rfft(left, size) * np.fft.rfft(right, size)
    # Rounding leaves noise of either sign around zero.
    convolved: FloatArray = np.fft.irfft(product, size).clip(0)
    return convolved
