"""The limiting case: one request at a time is an M/G/1 queue, of which the mean wait is known."""

import numpy as np
import pytest
from slow import kv_bytes_per_token, roofline_s

from kvsim import LLAMA_3_8B, Contiguous, Paged, Requests, Server, simulate

ONE_SLOT_BYTES = 8192 * kv_bytes_per_token(LLAMA_3_8B)
# Short and long requests, so that the service time varies about as much as its mean.
PROMPTS = np.array([100, 1000, 3000])
OUTPUTS = np.array([20, 200])
OUTPUT_SHARES = np.array([0.7, 0.3])
LOAD = 0.7
REPLICATIONS, COUNT, WARM_UP = 40, 4000, 500
T_QUANTILE = 2.7079  # of Student's t, 39 degrees of freedom: a two-sided 99 % interval


def prefill_s(server, prompt):
    bound_s = np.maximum(*roofline_s(server, prompt, prompt * (prompt + 1) / 2, prompt))
    return bound_s + server.gpu.pass_overhead_s


def service_s(server, prompt, output):
    """Duration of a request that is alone: its prefill, and a decode for each further token."""
    cached = np.arange(prompt + 1, prompt + output)
    decodes_s = np.maximum(*roofline_s(server, 1, cached, cached)) + server.gpu.pass_overhead_s
    return prefill_s(server, prompt) + decodes_s.sum()


def moments(server):
    """Mean and mean square of the service time, over the length distribution exactly."""
    times = np.array([[service_s(server, p, o) for o in OUTPUTS] for p in PROMPTS])
    shares = np.outer(np.full(len(PROMPTS), 1 / len(PROMPTS)), OUTPUT_SHARES)
    return (shares * times).sum(), (shares * times**2).sum()


def mean_wait(server, allocation, rate, rng):
    """Mean wait of one replication, after its queue has forgotten that it started empty."""
    prompt = rng.choice(PROMPTS, COUNT)
    output = rng.choice(OUTPUTS, COUNT, p=OUTPUT_SHARES)
    requests = Requests(np.cumsum(rng.exponential(1 / rate, COUNT)), prompt, output)
    timeline = simulate(requests, server, allocation)
    assert timeline.peak_running == 1
    return np.mean((timeline.ttft_s - prefill_s(server, prompt))[WARM_UP:])


@pytest.mark.parametrize(
    ("server", "allocation"),
    [
        (Server(cache_bytes=ONE_SLOT_BYTES), Contiguous(8192)),
        (Server(max_num_seqs=1), Paged(16)),
    ],
    ids=["one slot", "one sequence"],
)
def test_mean_wait_is_that_of_pollaczek_and_khinchine(server, allocation):
    mean_s, mean_square = moments(server)
    rate = LOAD / mean_s
    theory_s = rate * mean_square / (2 * (1 - LOAD))
    without_variance_s = rate * mean_s**2 / (2 * (1 - LOAD))

    rng = np.random.default_rng(20)
    waits_s = np.array([mean_wait(server, allocation, rate, rng) for _ in range(REPLICATIONS)])
    half_width_s = T_QUANTILE * waits_s.std(ddof=1) / np.sqrt(REPLICATIONS)

    assert half_width_s < 0.08 * theory_s, "too few requests to tell right from wrong"
    assert abs(waits_s.mean() - theory_s) < half_width_s
    # The interval does tell: a queue of constant service times is outside, and so is a service
    # that starts a pass late.
    assert abs(waits_s.mean() - without_variance_s) > half_width_s
    assert abs(waits_s.mean() - 1.1 * theory_s) > half_width_s
