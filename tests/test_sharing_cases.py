"""Sharing by hand: what is found, what is held, what contiguous memory cannot do."""

from dataclasses import replace

import numpy as np
import pytest

from kvsim import Contiguous, Paged, Placement, Requests, Server, Traffic, simulate
from kvsim.workload import ExponentialLengths

SERVER = Server()
APART_S = 100.0  # by then the server is idle


def computed(timeline):
    """Tokens that the first pass of each stay computes, in order of admission."""
    return (timeline.stays.first_tokens - timeline.stays.ready_tokens).tolist()


@pytest.mark.parametrize(
    ("sharing", "second"), [("off", 150), ("running", 150), ("kept", 150 - 96)]
)
def test_a_kept_system_prompt_outlives_the_requests_that_had_it(sharing, second):
    requests = Requests([0, APART_S], [130, 150], [5, 5], shared_tokens=100)
    timeline = simulate(requests, SERVER, Paged(16, sharing=sharing))
    assert computed(timeline) == [130, second]  # 6 full blocks of 16 tokens are found


@pytest.mark.parametrize("sharing", ["running", "kept"])
def test_a_running_request_lends_its_system_prompt(sharing):
    requests = Requests([0, 0.1], [130, 150], [500, 5], shared_tokens=100)
    timeline = simulate(requests, SERVER, Paged(16, sharing=sharing))
    assert computed(timeline) == [130, 150 - 96]


def test_the_last_prompt_token_is_always_computed():
    requests = Requests([0, APART_S], [97, 97], [5, 5], shared_tokens=96)
    timeline = simulate(requests, SERVER, Paged(16, sharing="kept"))
    assert computed(timeline) == [97, 1]


def test_samples_are_prefilled_once_and_hold_their_prompt_once():
    requests = Requests([0] * 4, [100] * 4, [3, 3, 3, 3], samples=4)
    timeline = simulate(requests, SERVER, Paged(16))
    assert computed(timeline) == [100, 0, 0, 0]
    assert len(set(timeline.ttft_s)) == 1
    # 7 blocks; then three copies of the last, which holds four tokens; the last one writes in it.
    assert timeline.held_tokens.tolist() == [7 * 16, 10 * 16, 10 * 16]


def test_samples_whose_prompt_fills_its_blocks_need_no_copy():
    requests = Requests([0] * 3, [32] * 3, [2, 2, 2], samples=3)
    timeline = simulate(requests, SERVER, Paged(16))
    assert timeline.held_tokens.tolist() == [2 * 16, 5 * 16]


def test_contiguous_memory_gives_every_sample_a_region_of_its_own():
    traffic = Traffic(ExponentialLengths(), samples=3)
    three, one = traffic.first(40), replace(traffic, samples=1).first(40)
    timeline = simulate(three, SERVER, Contiguous(8192))
    assert timeline.saved_share == 0
    assert timeline.held_tokens[0] == 8192 * min(120, 52)
    assert computed(timeline) == np.repeat(one.prompt_tokens, 3).tolist()


def test_memory_saved_is_blocks_saved_over_blocks_without_sharing():
    """One prompt of 32 tokens with two samples of three tokens: 2 blocks, then 2 x 1 more."""
    timeline = simulate(Requests([0, 0], [32, 32], [3, 3], 2), SERVER, Paged(16))
    assert timeline.saved_share == (2 + 2 + 2) / (4 + 6 + 6)
    apart = simulate(Requests([0, 0], [32, 32], [3, 3], 2), SERVER, Paged(16, sharing="off"))
    assert apart.saved_share == 0


def test_a_placement_has_one_owner_for_each_block():
    timeline = simulate(Requests([0, 0], [32, 32], [3, 3], 2), SERVER, Paged(16))
    with pytest.raises(ValueError, match="hold the same blocks"):
        Placement(timeline)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0, 0, 0], [9, 9, 9], [1, 1, 1], 2), "samples is 2, but there are 3 requests"),
        (([0, 0], [9, 8], [1, 1], 2), "prompt_tokens of request 1 is 8"),
        (([0, 1], [9, 9], [1, 1], 2), "arrival_s of request 1 is 1.0"),
        (([0], [9], [1], 0), "samples is 0"),
        (([0], [9], [1], 1, -1), "shared_tokens is -1"),
        (([0, 1], [9, 8], [1, 1], 1, 8), "prompt_tokens of request 1 is 8"),
    ],
)
def test_requests_that_cannot_share_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        Requests(*arguments)


def test_samples_that_exceed_the_cache_together_are_refused():
    server = Server(cache_bytes=10 * 16 * SERVER.model.kv_bytes_per_token)
    requests = Requests([0] * 4, [96] * 4, [17] * 4, samples=4)
    with pytest.raises(ValueError, match="needs 10 blocks"):
        # The prompt's 6, and one more for each; an eleventh does not fit with a watermark.
        simulate(requests, server, Paged(16, watermark=0.1))
    assert simulate(requests, server, Paged(16)).peak_running == 4


def test_more_samples_than_may_run_at_once_are_refused():
    requests = Requests([0] * 4, [10] * 4, [3] * 4, samples=4)
    with pytest.raises(ValueError, match="samples is 4, but max_num_seqs is 2"):
        simulate(requests, Server(max_num_seqs=2), Paged(16))
    # Without sharing each is a request of its own.
    apart = simulate(requests, Server(max_num_seqs=2), Paged(16, sharing="off"))
    assert apart.peak_running == 2
