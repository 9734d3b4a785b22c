"""Length tables: what is drawn from them, and the closed forms that go with it."""

from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from test_refusals import assert_refuses

from kvsim import (
    AZURE_CODE,
    AZURE_CONVERSATION,
    OPT_13B,
    SHAREGPT,
    BinnedLengths,
    Contiguous,
    ExponentialLengths,
    Paged,
    Placement,
    Server,
    Traffic,
    account,
    capacity,
    simulate,
)

# Means before binning, as the tables' own headers state them, and the width of a bin.
TABLES = [
    (SHAREGPT, 79_731, 161.31, 337.99, 16),
    (AZURE_CONVERSATION, 19_366, 1154.70, 211.13, 64),
    (AZURE_CODE, 8_819, 2047.85, 27.88, 64),
]
BY_TABLE = pytest.mark.parametrize(
    ("lengths", "count", "mean_prompt", "mean_output", "width"), TABLES, ids=lambda v: str(v)[:40]
)


def table_of(lengths):
    """Bins and counts of a table, read plainly."""
    path = files("kvsim") / "data" / f"{lengths.table}_lengths.csv"
    return np.loadtxt(str(path), int, comments=["#", "prompt"], delimiter=",")


def brute_force_pmf(lengths, width):
    """Weigh each pair of lengths of each pair of bins, one by one."""
    change = np.zeros(lengths.max_length + 1)
    within = np.arange(1, width + 1)
    for prompt_bin, output_bin, count in table_of(lengths):
        prompt = np.minimum(width * prompt_bin + within, lengths.max_length - 1)[:, None]
        output = np.minimum(width * output_bin + within, lengths.max_length - prompt)
        np.add.at(change, np.broadcast_to(prompt, output.shape), count)
        np.add.at(change, prompt + output, -count)  # holds up to p + o - 1 tokens
    weights = np.cumsum(change)[:-1]
    return weights / weights.sum()


@BY_TABLE
def test_tables_are_the_ones_they_say(lengths, count, mean_prompt, mean_output, width):
    table = table_of(lengths)
    assert table[:, 2].sum() == count
    middles = width * table[:, :2] + (width + 1) / 2
    prompt, output = np.average(middles, axis=0, weights=table[:, 2])
    assert prompt == pytest.approx(mean_prompt, abs=width / 2)
    assert output == pytest.approx(mean_output, abs=width / 2)


@BY_TABLE
def test_draws_follow_the_table(lengths, count, mean_prompt, mean_output, width):
    drawn = 200_000
    requests = Traffic(lengths).first(drawn)
    prompt, output = requests.prompt_tokens, requests.output_tokens
    assert (prompt + output).max() <= lengths.max_length
    table = table_of(lengths)
    bins = table[:, :2].max(axis=0) + 1
    shares = np.zeros(bins)
    shares[table[:, 0], table[:, 1]] = table[:, 2] / count
    found = np.zeros(bins)
    np.add.at(found, ((prompt - 1) // width, (output - 1) // width), 1 / drawn)
    # ShareGPT's longest requests are cut into the bin below.
    np.testing.assert_allclose(found, shares, atol=5 * np.sqrt(shares.max() / drawn))
    np.testing.assert_allclose(np.bincount(prompt % width) / drawn, 1 / width, atol=0.005)


@BY_TABLE
@pytest.mark.parametrize("max_length", [None, 300, 64])
def test_cached_tokens_against_brute_force(
    lengths, count, mean_prompt, mean_output, width, max_length
):
    lengths = replace(lengths, max_length=max_length or lengths.max_length)
    pmf = lengths.cached_tokens_pmf()
    assert len(pmf) == lengths.max_length
    np.testing.assert_allclose(pmf, brute_force_pmf(lengths, width), rtol=1e-9, atol=1e-15)


def test_mean_of_the_papers_closed_form():
    """E[op + o(o - 1)/2] / E[o] is 459.13 tokens before binning."""
    pmf = SHAREGPT.cached_tokens_pmf()
    assert pmf @ np.arange(len(pmf)) == pytest.approx(459.13, abs=0.1)


@pytest.mark.parametrize("lengths", [SHAREGPT, ExponentialLengths(300, 200, 2048)], ids=str)
@pytest.mark.parametrize("allocation", [Contiguous(2048), Paged(64)], ids=str)
def test_capacity_against_a_long_simulation(lengths, allocation):
    server = Server(OPT_13B, cache_bytes=60_000 * OPT_13B.kv_bytes_per_token)
    timeline = simulate(Traffic(lengths).first(8000), server, allocation)
    log = timeline.pass_log
    # From when those that started together have dispersed until nobody waits any more.
    full = slice(log.batch.size // 5, int(timeline.stays.first_pass[-1]))
    use = account(Placement(timeline))
    held = server.capacity_tokens - (use.free + use.external)[full].mean()
    expected = capacity(server, allocation, lengths)
    assert use.token_states[full].mean() / held == pytest.approx(expected.share_in_use, rel=0.02)
    fits = allocation.units(server) * allocation.unit_tokens / held * log.batch[full].mean()
    assert fits == pytest.approx(expected.requests, rel=0.02)


@pytest.mark.parametrize("lengths", [SHAREGPT, AZURE_CODE, ExponentialLengths()], ids=str)
def test_requests_are_the_same_at_every_rate(lengths):
    """A longer draw begins with the shorter one, and rates only change the speed."""
    few, many = Traffic(lengths).first(100, 2.0), Traffic(lengths).first(1000, 4.0)
    np.testing.assert_array_equal(few.prompt_tokens, many.prompt_tokens[:100])
    np.testing.assert_array_equal(few.output_tokens, many.output_tokens[:100])
    np.testing.assert_allclose(few.arrival_s, 2 * many.arrival_s[:100])
    other = Traffic(lengths, replication=1).first(100)
    assert (other.prompt_tokens != few.prompt_tokens).any()


def test_exponential_samples_stay_as_they_are():
    """The atlas was computed from these streams."""
    traffic = Traffic(ExponentialLengths(1024, 256, 1000), seed=5, replication=3)
    gaps, prompts, outputs = (
        np.random.default_rng(
            np.random.SeedSequence(5, spawn_key=(3, stream))
        ).standard_exponential(500)
        for stream in range(3)
    )
    requests = traffic.first(500, 7.0)
    prompt = np.clip(np.rint(1024 * prompts), 1, 999)
    np.testing.assert_array_equal(requests.arrival_s, np.cumsum(gaps) / 7.0)
    np.testing.assert_array_equal(requests.prompt_tokens, prompt)
    np.testing.assert_array_equal(
        requests.output_tokens, np.clip(np.rint(256 * outputs), 1, 1000 - prompt)
    )


@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ({"table": "alpaca"}, ["table", "'alpaca'", "sharegpt"]),
        ({"table": "../sharegpt"}, ["table", "sharegpt"]),
        ({"table": ["sharegpt"]}, ["table", "choose 'sharegpt'"]),
        ({"max_length": 1}, ["max_length", "at least 2"]),
    ],
    ids=str,
)
def test_tables_that_are_refused(setting, parts):
    assert_refuses(lambda: BinnedLengths(**setting), *parts)
