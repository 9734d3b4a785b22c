"""What a saturated server holds: measured, where there is no closed form."""

import numpy as np
import pytest

from kvsim import (
    SHAREGPT,
    Buddy,
    Contiguous,
    ExponentialLengths,
    FirstFit,
    Paged,
    Server,
    Traffic,
    capacity,
    saturated_capacity,
    simulate,
)

SERVER = Server()
LENGTHS = ExponentialLengths()


def test_slots_are_all_taken_and_filled_as_the_closed_form_says():
    allocation = Contiguous(8192)
    measured = saturated_capacity(SERVER, allocation, LENGTHS, replications=4)
    exact = capacity(SERVER, allocation, LENGTHS)
    assert measured.requests == exact.requests == 52
    assert measured.share_in_use == pytest.approx(exact.share_in_use, rel=0.03)


@pytest.mark.parametrize("block_size", [16, 256])
@pytest.mark.parametrize("lengths", [LENGTHS, SHAREGPT], ids=["exponential", "sharegpt"])
def test_blocks_hold_what_the_closed_form_says(block_size, lengths):
    """But for what the watermark keeps free, and what the pre-empted are short of."""
    allocation = Paged(block_size)
    measured = saturated_capacity(SERVER, allocation, lengths, replications=4, requests=8000)
    exact = capacity(SERVER, allocation, lengths)
    assert measured.requests == pytest.approx(exact.requests, rel=0.05)
    assert measured.share_in_use == pytest.approx(exact.share_in_use, rel=0.01)


@pytest.mark.parametrize(
    "allocation",
    [
        Buddy(estimate="pow2", max_length=8192),
        FirstFit(estimate="oracle", max_length=8192),
        FirstFit(estimate="max", max_length=8192),
    ],
    ids=["buddy", "oracle", "max"],
)
def test_runs_of_blocks_hold_what_they_do_in_long_traffic(allocation):
    """Requests that come one after the other, more than are served, weighed pass by pass."""
    measured = saturated_capacity(SERVER, allocation, LENGTHS, replications=4)
    timeline = simulate(Traffic(LENGTHS, seed=5).during(300, 60), SERVER, allocation)
    start_s = timeline.pass_log.start_s
    counted = slice(*np.searchsorted(start_s, [60, 300]).tolist())
    batch = timeline.pass_log.batch[counted]
    share = timeline.pass_log.cached_tokens[counted] / timeline.held_tokens[counted]
    assert measured.requests == pytest.approx(batch.mean(), rel=0.04)
    assert measured.share_in_use == pytest.approx(share.mean(), rel=0.04)


def test_the_same_seed_measures_the_same():
    allocation = Buddy(estimate="pow2", max_length=8192)
    one, again = (saturated_capacity(SERVER, allocation, LENGTHS, replications=1) for _ in range(2))
    assert one == again
    assert one != saturated_capacity(SERVER, allocation, LENGTHS, replications=1, seed=1)


def test_a_queue_that_empties_is_no_measurement():
    with pytest.raises(ValueError, match="nobody waits"):
        saturated_capacity(SERVER, Paged(16), LENGTHS, replications=1, requests=100)
