"""How many prompts fit where their samples and a system prompt share blocks: closed form."""

from dataclasses import dataclass

import numpy as np

from kvsim import checks
from kvsim.allocation import Paged
from kvsim.kinds import of_kind
from kvsim.server import Server
from kvsim.workload import Lengths


@dataclass(frozen=True)
class SharedCapacity:
    """What a full paged cache holds on average; each prompt is there with all of its samples."""

    prompts: float
    prompts_alone: float  # if every sample had all of its blocks to itself
    saved_share: float  # blocks saved / blocks without sharing, with ``prompts`` at once


def shared_capacity(
    server: Server,
    allocation: Paged,
    lengths: Lengths,
    samples: int = 1,
    shared_tokens: int = 0,
) -> SharedCapacity:
    """Return the prompts that fit, exact for ``lengths`` without the system prompt.

    Every prompt begins with ``shared_tokens`` and has ``samples`` outputs of one length, as in
    :class:`kvsim.Traffic`. At a random pass a sample of a prompt of p tokens has c in its cache,
    system prompt included; with blocks of b tokens a prompt's samples hold
    ``n ceil(c / b) - (n - 1) floor(p / b)`` blocks between them, and in their first pass, before
    they write, one partly filled block in place of n. Of all that, ``floor(shared_tokens / b)``
    blocks are there once for everybody. Raises ``ValueError`` if not even one prompt fits.
    """
    of_kind("server", server, Server)
    of_kind("allocation", allocation, Paged)
    of_kind("lengths", lengths, Lengths)
    checks.whole("samples", samples)
    checks.whole("shared_tokens", shared_tokens, least=0)
    size, blocks = allocation.block_size, allocation.units(server)
    cached = np.arange(lengths.max_length) + shared_tokens
    alone = samples * float(np.dot(lengths.cached_tokens_pmf(), -(-cached // size)))
    shared, system = 0.0, 0
    if allocation.sharing != "off":
        system = shared_tokens // size
        output = lengths.output_by_prompt()
        prompt_full = float(np.dot(output, cached // size) / output.sum())
        unwritten = float(np.dot(lengths.prompt_pmf(), cached % size > 0) / output.sum())
        shared = (samples - 1) * (prompt_full + unwritten)
    prompts = (blocks - system) / (alone - shared - system)
    if prompts < 1:
        raise ValueError(
            f"samples is {samples} and shared_tokens {shared_tokens:,}: one prompt needs "
            f"{alone - shared:,.0f} blocks on average, but the cache has {blocks:,}; lower either "
            "or enlarge the cache."
        )
    saved = prompts * shared + (prompts - 1) * system
    return SharedCapacity(prompts, blocks / alone, saved / (prompts * alone))
