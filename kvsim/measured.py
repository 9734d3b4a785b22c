"""What the roofline misses: its times against figures that were measured and published.

Decoding is compared with a measured line, prefill with published tables of what an H100 reaches.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kvsim import checks
from kvsim.hardware import GPU, H100
from kvsim.model import LLAMA_3_8B
from kvsim.roofline import Roofline
from kvsim.server import Server

# Llama 3 8B in BF16 on one H100, vLLM 0.19, decoding at batch 1: seconds of a pass, and seconds
# more for each token of context.
DECODE_S = 6.44e-3
DECODE_PER_TOKEN_S = 4.37e-8
CONTEXT_TOKENS = (1, 1024, 2048, 4096, 8192)  # up to the model's maximum

# Matrix products in BF16 on an H100 SXM, the best of many shapes.
MATMUL_FLOPS = 794.5e12
# Attention in FP16 on an H100 SXM, the best of many shapes.
ATTENTION_FLOPS = 740e12
# A whole server: Llama 3.1 8B with FP8 weights on one H100 SXM, all requests there from the start.
SERVER_OUTPUT_TOKENS_PER_S = 3556.73
SERVER_PROMPT_TOKENS = 2048
SERVER_OUTPUT_TOKENS = 128
SOURCES = {
    "matrix products, BF16": (
        'Bekman, "Machine Learning Engineering Open Book", Accelerators: Maximum Achievable '
        "Matmul FLOPS comparison table (H100 SXM, PyTorch 2.7, CUDA 12.6)"
    ),
    "attention, FP16": 'Shah et al., "FlashAttention-3", 2024 (arXiv 2407.08608)',
    "whole server, FP8": (
        'NVIDIA, TensorRT-LLM documentation, "Performance overview", figures of version 0.17: '
        f"Llama 3.1 8B, {SERVER_PROMPT_TOKENS:,} prompt and {SERVER_OUTPUT_TOKENS} output tokens"
    ),
}
# NVIDIA, "H100 Tensor Core GPU" data sheet, SXM column: FP8 without sparsity.
H100_FP8_FLOPS = 1979e12
PREFILL_TOKENS = 1024  # the plate's mean prompt


@dataclass(frozen=True)
class DecodeRow:
    """One pass at batch 1 with so many tokens in the cache, in seconds.

    ``simulated_s`` is the roofline's, ``at_peak_s`` what the traffic takes at the published
    bandwidth. ``missed_share`` is ``simulated_s / measured_s - 1``: below zero, the simulation is
    too fast.
    """

    context_tokens: int
    measured_s: float
    simulated_s: float
    at_peak_s: float

    @property
    def missed_share(self) -> float:
        """By which share of the measured time the roofline is too slow."""
        return self.simulated_s / self.measured_s - 1

    @property
    def bandwidth_share(self) -> float:
        """Share of the published bandwidth that the measured pass reaches, all in all."""
        return self.at_peak_s / self.measured_s


@dataclass(frozen=True)
class PrefillRow:
    """What was published, as a share of peak arithmetic, and a prefill that reaches it.

    ``simulated_s`` is the simulation's prefill of ``PREFILL_TOKENS`` with its own share of peak,
    ``published_s`` with the published one. The latter is None for a whole server: its share is
    that of everything it does, decoding too, so that its prefill reaches more.
    """

    what: str
    flops: float
    share: float
    simulated_s: float
    published_s: float | None

    @property
    def pessimistic_share(self) -> float | None:
        """By which share of the simulated time the published prefill is shorter."""
        return None if self.published_s is None else 1 - self.published_s / self.simulated_s


@dataclass(frozen=True)
class DecodeShares:
    """Shares of the published bandwidth that the two terms of the measured line reach."""

    weights: float
    cache: float


def decode_rows(gpu: GPU = H100, contexts: Sequence[int] = CONTEXT_TOKENS) -> list[DecodeRow]:
    """Compare decode passes of Llama 3 8B on ``gpu`` with the measured line of the H100.

    Raises ``ValueError`` for contexts below one token.
    """
    simulated = _roofline(gpu)
    at_peak = _roofline(replace(gpu, bandwidth_share=1, compute_share=1, pass_overhead_s=0))
    return [
        DecodeRow(
            tokens,
            DECODE_S + DECODE_PER_TOKEN_S * tokens,
            simulated.pass_s(1, tokens, tokens),
            at_peak.pass_s(1, tokens, tokens),
        )
        for tokens in (checks.whole("contexts", each) for each in contexts)
    ]


def decode_shares(gpu: GPU = H100) -> DecodeShares:
    """Return the shares of ``gpu``'s published bandwidth that the measured line amounts to."""
    at_peak = _roofline(replace(gpu, bandwidth_share=1))
    return DecodeShares(at_peak.weights_s / DECODE_S, at_peak.cached_s / DECODE_PER_TOKEN_S)


def prefill_rows(gpu: GPU = H100) -> list[PrefillRow]:
    """Compare prefill at ``gpu``'s share of peak arithmetic with published figures of the H100."""
    simulated_s = _prefill_s(gpu)
    rows = []
    for what, flops, peak in (
        ("matrix products, BF16", MATMUL_FLOPS, H100.peak_flops),
        ("attention, FP16", ATTENTION_FLOPS, H100.peak_flops),
        ("whole server, FP8", _server_flops(), H100_FP8_FLOPS),
    ):
        at_that_s = _prefill_s(replace(gpu, compute_share=flops / peak))
        of_prefill = what != "whole server, FP8"
        rows.append(
            PrefillRow(what, flops, flops / peak, simulated_s, at_that_s if of_prefill else None)
        )
    return rows


def comparison(gpu: GPU = H100) -> dict[str, Any]:
    """Return all of it as plain values, each named with its unit: for JSON, and for a page.

    ``gpu`` is the simulated one: its shares of the published rates may be set, and its figures
    are held against those of the H100.
    """
    shares = decode_shares(gpu)
    return {
        "assumed": {
            "gpu": gpu.name,
            "compute_share": gpu.compute_share,
            "bandwidth_share": gpu.bandwidth_share,
            "pass_overhead_s": gpu.pass_overhead_s,
        },
        "decode": [
            {
                "context_tokens": row.context_tokens,
                "measured_s": row.measured_s,
                "simulated_s": row.simulated_s,
                "missed_share": row.missed_share,
                "published_bandwidth_share": row.bandwidth_share,
            }
            for row in decode_rows(gpu)
        ],
        "decode_line": {
            "weights_bandwidth_share": shares.weights,
            "cache_bandwidth_share": shares.cache,
        },
        "prefill_tokens": PREFILL_TOKENS,
        "prefill": [
            {
                "what": row.what,
                "source": SOURCES[row.what],
                "flops_per_s": row.flops,
                "published_peak_share": row.share,
                "simulated_s": row.simulated_s,
                "published_s": row.published_s,
                "pessimistic_share": row.pessimistic_share,
            }
            for row in prefill_rows(gpu)
        ],
    }


def notes(result: dict[str, Any]) -> dict[str, str]:
    """Say of the decode and the prefill rows of a :func:`comparison` how to read them."""
    assumed, line = result["assumed"], result["decode_line"]
    missed = [row["missed_share"] for row in result["decode"]]
    weights = _percent(line["weights_bandwidth_share"])
    cache = _percent(line["cache_bandwidth_share"])
    bandwidth = _percent(assumed["bandwidth_share"])
    compute = _percent(assumed["compute_share"])
    shorter = _percent(result["prefill"][0]["pessimistic_share"])
    return {
        "decode": (
            f"The simulated pass differs by {_signed(min(missed))} to {_signed(max(missed))} from "
            f"the measured one. The measured line amounts to {weights} of the published bandwidth "
            f"for the weights and everything fixed, and to {cache} for the cache; the model "
            f"assumes {bandwidth} for both and {1000 * assumed['pass_overhead_s']:g} ms a pass. "
            "Larger batches were not measured."
        ),
        "prefill": (
            f"The model assumes {compute} of peak arithmetic. At what the best matrix products "
            f"reach, which no whole prefill exceeds, it would take {shorter} less time. The whole "
            "server's share counts its decode passes and its pauses, so its prefill reaches more "
            "than that."
        ),
    }


def _roofline(gpu: GPU) -> Roofline:
    return Roofline(Server(LLAMA_3_8B, gpu), read_factor=1)


def _prefill_s(gpu: GPU) -> float:
    attended = PREFILL_TOKENS * (PREFILL_TOKENS + 1) // 2
    return _roofline(gpu).pass_s(PREFILL_TOKENS, attended, PREFILL_TOKENS)


def _server_flops() -> float:
    """Arithmetic per second of the published server: its last output token is never processed."""
    processed = SERVER_PROMPT_TOKENS + SERVER_OUTPUT_TOKENS - 1
    attended = processed * (processed + 1) // 2
    per_request = LLAMA_3_8B.flops_per_token * processed + LLAMA_3_8B.flops_per_attended * attended
    return per_request * SERVER_OUTPUT_TOKENS_PER_S / SERVER_OUTPUT_TOKENS


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _signed(share: float) -> str:
    return f"{100 * share:+.1f} %"
