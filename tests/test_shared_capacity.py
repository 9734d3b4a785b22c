"""Prompts that fit with shared blocks: the closed form, drawn lengths, and a saturated server."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from test_refusals import assert_refuses

from kvsim import (
    AZURE_CODE,
    SHAREGPT,
    Contiguous,
    ExponentialLengths,
    Paged,
    Server,
    Traffic,
    capacity,
    shared_capacity,
    simulate,
    sustained_rate,
)

SERVER = Server()
LENGTHS = ExponentialLengths()
SHORT = ExponentialLengths(40, 60, max_length=200)
KINDS = pytest.mark.parametrize(
    "lengths",
    [LENGTHS, SHORT, replace(LENGTHS, max_length=1024), SHAREGPT, replace(SHAREGPT, max_length=90)],
    ids=["exponential", "short", "cut", "sharegpt", "sharegpt cut"],
)


@KINDS
def test_prompts_are_drawn_with_their_probability(lengths):
    drawn = 200_000
    prompt = Traffic(lengths).first(drawn).prompt_tokens
    exact = lengths.prompt_pmf()
    assert len(exact) == lengths.max_length
    assert exact.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        np.cumsum(np.bincount(prompt, minlength=lengths.max_length) / drawn),
        np.cumsum(exact),
        atol=2.5 / np.sqrt(drawn),  # Kolmogorov's distance is smaller in all but 1e-5 of cases
    )


@KINDS
def test_outputs_are_drawn_as_long_as_their_prompt_leaves_room(lengths):
    drawn = 200_000
    requests = Traffic(lengths).first(drawn)
    exact = lengths.output_by_prompt()
    weights = np.bincount(requests.prompt_tokens, requests.output_tokens, lengths.max_length)
    mean = requests.output_tokens.mean()
    assert exact.sum() == pytest.approx(mean, rel=0.02)
    np.testing.assert_allclose(
        np.cumsum(weights / drawn), np.cumsum(exact), atol=5 * mean / np.sqrt(drawn)
    )


def test_both_tables_agree_with_the_tokens_that_a_running_request_holds():
    """It holds p tokens and, on average, half of its output beside: by another way."""
    for lengths in (LENGTHS, SHAREGPT, AZURE_CODE):
        requests = Traffic(lengths).first(100_000)
        prompt, output = requests.prompt_tokens, requests.output_tokens
        held = np.average(prompt + (output - 1) / 2, weights=output)
        pmf = lengths.cached_tokens_pmf()
        assert pmf @ np.arange(len(pmf)) == pytest.approx(held, rel=0.03)
        by_prompt = lengths.output_by_prompt()
        mean_prompt = by_prompt @ np.arange(len(by_prompt)) / by_prompt.sum()
        assert mean_prompt == pytest.approx(np.average(prompt, weights=output), rel=0.03)


def held_blocks(lengths, size, samples, system, drawn=100_000):
    """Blocks of a prompt's samples, alone and with sharing, on average over passes; summed up."""
    requests = Traffic(lengths, shared_tokens=system).first(drawn)
    alone = shared = 0
    for prompt, output in zip(
        requests.prompt_tokens[:2000].tolist(), requests.output_tokens[:2000].tolist(), strict=True
    ):
        for cached in range(prompt, prompt + output):
            blocks = -(-cached // size)
            alone += samples * blocks
            full = prompt // size
            shared += blocks if cached == prompt else full + samples * (blocks - full)
    passes = requests.output_tokens[:2000].sum()
    return alone / passes, shared / passes


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("system", [0, 37])
def test_blocks_are_counted_one_by_one(samples, system):
    size, blocks = 16, Paged(16).units(SERVER)
    alone, shared = held_blocks(SHORT, size, samples, system)
    once = system // size
    exact = shared_capacity(SERVER, Paged(size), SHORT, samples, system)
    assert exact.prompts_alone == pytest.approx(blocks / alone, rel=0.03)
    assert exact.prompts == pytest.approx((blocks - once) / (shared - once), rel=0.03)
    saved = 1 - blocks / (exact.prompts * alone)
    assert exact.saved_share == pytest.approx(saved, abs=0.02)


@pytest.mark.parametrize("size", [1, 16, 256])
@pytest.mark.parametrize("lengths", [LENGTHS, SHAREGPT], ids=["exponential", "sharegpt"])
def test_where_nobody_shares_it_is_the_capacity(lengths, size):
    exact = capacity(SERVER, Paged(size), lengths).requests
    for allocation, samples, system in ((Paged(size), 1, 0), (Paged(size, sharing="off"), 4, 0)):
        found = shared_capacity(SERVER, allocation, lengths, samples, system)
        assert found.prompts == pytest.approx(exact / samples)
        assert found.prompts == pytest.approx(found.prompts_alone)
        assert found.saved_share == 0


@pytest.mark.parametrize(
    ("samples", "system"), [(4, 0), (1, 1024), (4, 512)], ids=["samples", "system", "both"]
)
def test_a_saturated_server_holds_as_many(samples, system):
    """But for the room that those leave free who come next, or are pre-empted."""
    lengths = replace(LENGTHS, max_length=8192 - system)
    exact = shared_capacity(SERVER, Paged(16), lengths, samples, system)
    traffic = Traffic(lengths, samples=samples, shared_tokens=system).first(2400)
    timeline = simulate(traffic, SERVER, Paged(16))
    passes = slice(timeline.passes // 4, int(timeline.stays.first_pass[-1]))
    held = timeline.pass_log.batch[passes].mean() / samples
    assert held == pytest.approx(exact.prompts, rel=0.06)
    assert timeline.saved_share == pytest.approx(exact.saved_share, rel=0.04)


@pytest.mark.parametrize("sharing", ["off", "running", "kept"])
def test_more_is_saved_the_more_there_is_to_share(sharing):
    allocation = Paged(16, sharing=sharing)
    by_samples = [shared_capacity(SERVER, allocation, LENGTHS, n).saved_share for n in range(1, 9)]
    by_system = [
        shared_capacity(SERVER, allocation, LENGTHS, 2, s).saved_share for s in (0, 64, 512, 4096)
    ]
    for saved in (by_samples, by_system):
        assert (sharing == "off" and not any(saved)) or (np.diff(saved) > 0).all()
        assert max(saved) < 1


def test_refusals():
    for samples, system, sentence in (
        (0, 0, "samples is 0"),
        (2, -1, "shared_tokens is -1"),
        (1.5, 0, "samples is 1.5"),
    ):
        assert_refuses(
            partial(shared_capacity, SERVER, Paged(16), LENGTHS, samples, system), sentence
        )
    small = Server(cache_bytes=100 * 16 * SERVER.model.kv_bytes_per_token)
    assert_refuses(
        lambda: shared_capacity(small, Paged(16), LENGTHS, 8, 512),
        "samples is 8 and shared_tokens 512",
        "lower either or enlarge the cache",
    )


def test_sharing_sustains_more_prompts_and_regions_cannot():
    lengths = replace(LENGTHS, max_length=8192 - 1024)
    given = {"samples": 4, "shared_tokens": 1024, "replications": 1}
    regions, alone, shared = (
        sustained_rate(SERVER, allocation, lengths, **given)
        for allocation in (Contiguous(8192), Paged(16, sharing="off"), Paged(16))
    )
    assert regions < alone < shared / 2


def test_the_rate_refuses_too_few_prompts():
    assert_refuses(
        lambda: sustained_rate(SERVER, Paged(16), LENGTHS, samples=8, requests=40),
        "requests / samples is 5",
    )
