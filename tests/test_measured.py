"""What the roofline misses, against figures that were measured."""

from dataclasses import replace

import pytest

from kvsim import H100, LLAMA_3_8B, Contiguous, Requests, Server, simulate
from kvsim.measured import (
    MATMUL_FLOPS,
    SOURCES,
    comparison,
    decode_rows,
    decode_shares,
    prefill_rows,
)


def test_the_measured_line_in_shares_of_published_bandwidth():
    """74 % for the weights and everything fixed, 90 % for the cache."""
    shares = decode_shares()
    assert round(shares.weights, 2) == 0.74
    assert round(shares.cache, 2) == 0.90
    assert H100.bandwidth_share == 0.8


def test_the_simulated_pass_is_the_engines():
    """A decode at batch 1 that brings the only request to so many tokens."""
    for row in decode_rows(contexts=[2, 1000]):
        requests = Requests([0], [row.context_tokens - 1], [2])
        log = simulate(requests, Server(), Contiguous()).pass_log
        assert row.simulated_s == pytest.approx(log.end_s[1] - log.start_s[1])


def test_decoding_is_a_little_too_fast():
    rows = decode_rows()
    assert all(-0.04 < row.missed_share < -0.03 for row in rows)
    assert [row.missed_share for row in rows] == sorted(row.missed_share for row in rows)
    assert rows[0].measured_s == pytest.approx(6.44e-3, abs=1e-7)
    assert rows[-1].measured_s == pytest.approx(6.44e-3 + 8192 * 4.37e-8)
    assert rows[0].at_peak_s == pytest.approx(LLAMA_3_8B.weight_bytes / 3.35e12, rel=1e-4)
    assert rows[0].bandwidth_share == pytest.approx(0.744, abs=1e-3)


def test_the_measured_shares_and_no_overhead_reproduce_the_start_of_the_line():
    gpu = replace(H100, bandwidth_share=decode_shares().weights, pass_overhead_s=0)
    row = decode_rows(gpu, [1])[0]
    assert row.missed_share == pytest.approx(0, abs=1e-5)


def test_prefill_is_pessimistic_by_about_a_quarter():
    matrices, attention, server = prefill_rows()
    assert matrices.share == pytest.approx(0.803, abs=1e-3)
    assert 0.2 < matrices.pessimistic_share < 0.3
    assert attention.share == pytest.approx(0.75, abs=0.005)
    assert 0 < attention.pessimistic_share < matrices.pessimistic_share
    # A whole server's average is no prefill: it says only that half of the peak is exceeded.
    assert 0.5 < server.share < H100.compute_share
    assert server.published_s is server.pessimistic_share is None


def test_a_prefill_at_the_published_share_is_not_pessimistic():
    gpu = replace(H100, compute_share=MATMUL_FLOPS / H100.peak_flops)
    assert prefill_rows(gpu)[0].pessimistic_share == 0


def test_the_simulated_prefill_is_the_engines():
    timeline = simulate(Requests([0], [1024], [1]), Server(), Contiguous())
    assert prefill_rows()[0].simulated_s == pytest.approx(timeline.ttft_s[0])


def test_all_of_it_as_plain_values():
    result = comparison(replace(H100, bandwidth_share=0.7))
    assert result["assumed"]["bandwidth_share"] == 0.7
    assert result["decode"][0]["missed_share"] > 0
    assert [row["source"] for row in result["prefill"]] == list(SOURCES.values())


@pytest.mark.parametrize("name", ["compute_share", "bandwidth_share", "pcie_share"])
@pytest.mark.parametrize("value", [0, -0.1, 1.01, float("nan"), "0.5"])
def test_efficiencies_are_controls_that_say_what_they_take(name, value):
    with pytest.raises(ValueError, match=rf"^{name} is {value!r}: it must be .*\.$"):
        replace(H100, **{name: value})


@pytest.mark.parametrize("tokens", [0, 1.5, "8"])
def test_contexts_are_whole_tokens(tokens):
    with pytest.raises(ValueError, match=f"contexts is {tokens!r}"):
        decode_rows(contexts=[tokens])
