"""Allocators that hand out addresses: runs that are aligned, disjoint, and merged again."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvsim import Buddy, FirstFit, Model, Server
from kvsim.addresses import BuddyRuns, FirstFitRuns, FreeList

ONE_BYTE = Model("m", 1, layers=1, attention_heads=1, kv_heads=1, head_dim=1)
# What is asked for (any number of units), or which of the taken runs comes back.
STEPS = st.lists(
    st.tuples(st.just("take"), st.integers(1, 40))
    | st.tuples(st.just("back"), st.integers(0, 10**6)),
    max_size=60,
)


def server(tokens):
    return Server(ONE_BYTE, cache_bytes=tokens * ONE_BYTE.kv_bytes_per_token)


def play(addresses, steps, check):
    """Take and give back; ``check`` what is free and taken after each step. Return it all."""
    taken = []
    for what, number in steps:
        if what == "take" and addresses.fits(number):
            taken.append(addresses.take(number))
            assert len(taken[-1]) == number
        elif what == "take":
            free = addresses.free
            with pytest.raises(IndexError):
                addresses.take(number)
            assert addresses.free == free
        elif taken:
            addresses.give_back(taken.pop(number % len(taken)))
        check(taken)
    for run in taken:
        addresses.give_back(run)
    check([])


def assert_covers(addresses, taken, units):
    """Each unit is in one free run or one taken run."""
    runs = addresses.runs()
    everything = np.sort(np.concatenate([np.array(run, int) for run in (*runs, *taken)]))
    np.testing.assert_array_equal(everything, np.arange(units))
    assert addresses.free == sum(map(len, runs))
    assert runs == sorted(runs, key=lambda run: run.start)


def test_item_46_pool_of_the_paper():
    """984 blocks are seven runs of 128, then 64, 16 and 8, at addresses in that order."""
    addresses = Buddy("max", 2048, 16).addresses(server(15_744))
    assert [len(run) for run in addresses.runs()] == [128] * 7 + [64, 16, 8]
    assert addresses.take(128) == range(128)


def test_item_46_smallest_sufficient_run_is_split_by_halves():
    addresses = BuddyRuns(984, 128)
    assert addresses.take(8) == range(976, 984)
    assert addresses.take(8) == range(960, 968)  # half of the 16
    assert addresses.take(16) == range(896, 912)  # a quarter of the 64
    assert [len(run) for run in addresses.runs()] == [128] * 7 + [16, 32, 8]
    addresses.give_back(range(960, 968))
    addresses.give_back(range(896, 912))
    assert [len(run) for run in addresses.runs()] == [128] * 7 + [64, 16]


def test_item_46_last_freed_is_first_taken():
    addresses = BuddyRuns(512, 128)
    runs = [addresses.take(128) for _ in range(4)]
    for each in (2, 0, 3):
        addresses.give_back(runs[each])
    assert [addresses.take(128) for _ in range(3)] == [runs[3], runs[0], runs[2]]


def test_a_cache_smaller_than_the_longest_request_has_no_run_of_it():
    assert [len(run) for run in BuddyRuns(11, 16).runs()] == [8, 2, 1]


@settings(max_examples=500)
@given(st.integers(1, 200), st.sampled_from([1, 2, 8, 32, 64]), STEPS)
def test_buddy_runs(units, largest, steps):
    addresses = BuddyRuns(units, largest)
    fresh = addresses.runs()

    def check(taken):
        assert_covers(addresses, taken, units)
        free = {(run.start, len(run)) for run in addresses.runs()}
        for start, size in free:
            assert start % size == 0
            whole = (start, size) in {(run.start, len(run)) for run in fresh}
            assert whole or (start ^ size, size) not in free, "two buddies are free"
        assert all(run.start % len(run) == 0 for run in taken)

    steps = [(what, 1 << n % 7 if what == "take" else n) for what, n in steps]
    play(addresses, steps, check)
    assert addresses.runs() == fresh


@settings(max_examples=500)
@given(st.integers(1, 200), STEPS)
def test_first_fit_runs(units, steps):
    addresses = FirstFitRuns(units)

    def check(taken):
        assert_covers(addresses, taken, units)
        runs = addresses.runs()
        assert all(left.stop < right.start for left, right in pairwise(runs)), (
            "two neighbours are not joined"
        )
        for wanted in (1, 5, 30):
            holes = [run for run in runs if len(run) >= wanted]
            assert addresses.fits(wanted) == bool(holes)
            if holes:
                run = addresses.take(wanted)
                assert run.start == holes[0].start
                addresses.give_back(run)
        assert addresses.runs() == runs

    play(addresses, steps, check)
    assert addresses.runs() == [range(units)]


@settings(max_examples=200)
@given(st.integers(1, 200), STEPS)
def test_free_list(units, steps):
    addresses = FreeList(units)

    def check(taken):
        numbers = [number for some in taken for number in some]
        assert len(set(numbers)) == len(numbers) == units - addresses.free
        assert set(numbers) <= set(range(units))

    play(addresses, steps, check)


def test_free_list_uses_first_what_came_back_last():
    addresses = FreeList(10)
    first, second = addresses.take(3), addresses.take(2)
    assert (first, second) == ([0, 1, 2], [3, 4])
    addresses.give_back(second)
    addresses.give_back(first)
    assert addresses.take(6) == [0, 1, 2, 3, 4, 5]


def test_first_fit_hands_out_whole_blocks():
    allocation = FirstFit("oracle", 100, 16)
    assert allocation.units_held(np.array([1, 16, 17, 100])).tolist() == [1, 1, 2, 7]
