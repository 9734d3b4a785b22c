"""The replay with addresses, and the account of every token: they agree with the engine."""

from dataclasses import dataclass
from typing import Any

import pytest
import slow
from hypothesis import given, settings
from test_addresses import server
from test_engine import small_runs

from kvsim import (
    SHAREGPT,
    Buddy,
    Contiguous,
    FirstFit,
    Paged,
    Place,
    Placement,
    Requests,
    Traffic,
    account,
    simulate,
)
from kvsim.paper.experiments import SERVER, SYSTEMS
from kvsim.pools import Unshared


@dataclass
class Watched:
    """An allocation whose pools note how many units are free after every call."""

    allocation: Any

    def __getattr__(self, name):
        return getattr(self.allocation, name)

    def pool(self, server, requests):
        self.free = {}
        return WatchedPool(self.allocation.pool(server, requests), self.free)


class WatchedPool(Unshared):
    """Free units by pass: after its growth and admissions, so before anybody ends."""

    def __init__(self, pool, free):
        self.pool, self.noted = pool, free

    def take(self, group, tokens, q):
        taken = self.pool.take(group, tokens, q)
        self.noted[q] = self.pool.free
        return taken

    def give_back(self, request, tokens, q):
        self.pool.give_back(request, tokens, q)
        # A pre-empted request leaves before pass q + 1 grows, which notes it in its turn.

    def content(self, members, tokens):
        return self.pool.content(members, tokens)

    def grow(self, q, passes):
        passes = self.pool.grow(q, passes)
        if passes:
            self.noted[q + passes - 1] = self.pool.free
        return passes


def counts(placement, q):
    places = placement.at(q)
    held = [unit for place in places for unit in place.units]
    assert len(set(held)) == len(held), "a unit has two owners"
    return places, len(held)


def check_run(requests, server, allocation):
    watched = Watched(allocation)
    timeline = simulate(requests, server, watched)
    placement, exact = Placement(timeline), slow.simulate(requests, server, allocation)
    use = account(placement).parts()
    units = allocation.units(server)

    assert watched.free.keys() >= set(timeline.stays.first_pass.tolist())
    for q, one in enumerate(exact.passes):
        places, held = counts(placement, q)
        assert {place.request: place.cached_tokens for place in places} == one.cached
        assert [place.request for place in places] == list(one.cached)
        assert units - held == one.free
        assert watched.free.get(q, one.free) == one.free
        assert placement.scattered[q] == one.scattered
        assert sum(tokens[q] for tokens in use.values()) == server.capacity_tokens
        assert use["token_states"][q] == sum(one.cached.values())
        for place in places:
            assert place.prompt_tokens == requests.prompt_tokens[place.request]
            assert place.cached_tokens <= place.reserved_tokens
            assert place.reserved_tokens <= len(place.units) * allocation.unit_tokens
    assert min(tokens.min() for tokens in use.values()) >= 0
    # Block by block the same addresses as those of the slow simulator.
    tables = {}
    for stay, request in enumerate(timeline.stays.request.tolist()):
        tables.setdefault(request, []).append(list(placement.units[stay]))
    assert tables == {request.number: request.tables for request in exact.requests}


@settings(max_examples=250)
@given(small_runs())
def test_replay_agrees_with_the_engine_and_with_the_slow_simulator(run):
    check_run(*run)


@settings(max_examples=150)
@given(small_runs(kinds=[Buddy, FirstFit]))
def test_replay_of_runs(run):
    check_run(*run)


@pytest.mark.parametrize("name", SYSTEMS)
def test_no_unit_has_two_owners_on_the_papers_server(name):
    timeline = simulate(Traffic(SHAREGPT).during(60, 4), SERVER, SYSTEMS[name])
    placement = Placement(timeline)
    held = [counts(placement, q)[1] for q in range(0, timeline.passes, 50)]
    assert 0.9 * 984 < max(held) <= 984


@pytest.mark.parametrize("q", [-1, 9])
def test_there_is_no_place_beyond_the_run(q):
    placement = Placement(simulate(Requests([0], [30], [9]), server(133), Contiguous(64)))
    with pytest.raises(IndexError, match=f"no pass {q}: this run has 9"):
        placement.at(q)


def test_paged_blocks_are_scattered_and_used_again():
    """Two requests grow in turns; the block of a third, which ends first, goes to the first."""
    requests = Requests([0, 0, 1e-6], [4, 4, 3], [9, 13, 2])
    placement = Placement(simulate(requests, server(100), Paged(4)))
    assert placement.units == [[0, 2, 4], [1, 3, 5, 0], [4]]
    assert placement.at(5)[1] == Place(1, [1, 3, 5], 4, 9, 9)


def test_contiguous_slots_are_used_again():
    requests = Requests([0, 0, 0], [4, 4, 4], [9, 3, 2])
    placement = Placement(simulate(requests, server(133), Contiguous(64)))
    assert placement.units == [[0], [1], [1]]
    assert placement.at(3) == [Place(0, [0], 4, 7, 64), Place(2, [1], 4, 4, 64)]


# Four requests fill 12 blocks of 8; two of them end and leave two holes of two, where the fifth
# needs four in a row. 3 tokens of the cache are no whole block.
HOLES = Requests([0, 0, 0, 0, 0], [10, 10, 10, 10, 30], [6, 20, 6, 20, 2])


def test_external_fragmentation_is_what_makes_the_head_wait():
    timeline = simulate(HOLES, server(99), FirstFit("oracle", 32, 8))
    placement = Placement(timeline)
    assert placement.units == [range(2), range(2, 6), range(6, 8), range(8, 12), range(4)]
    assert timeline.stays.first_pass[4] == 20
    use = account(placement)
    assert use.external.tolist() == [0] * 6 + [32] * 14 + [0] * 2
    assert use.free.tolist() == [3] * 20 + [67] * 2
    assert use.unfilled.tolist() == [4] * 20 + [0] * 2


def test_holes_are_external_only_once_somebody_wants_them():
    """The same, but the fifth arrives in pass 10 or so, and would fit into nothing before."""
    arrival_s = HOLES.arrival_s.copy()
    together = simulate(HOLES, server(99), FirstFit("oracle", 32, 8))
    arrival_s[4] = (together.pass_start_s(9) + together.pass_end_s(9)) / 2
    later = Requests(arrival_s, HOLES.prompt_tokens, HOLES.output_tokens)
    use = account(Placement(simulate(later, server(99), FirstFit("oracle", 32, 8))))
    assert use.external.tolist() == [0] * 10 + [32] * 10 + [0] * 2


def test_buddies_leave_no_hole_there():
    """The two holes are buddies: they merge, and the fifth is admitted."""
    timeline = simulate(HOLES, server(99), Buddy("oracle", 32, 8))
    assert timeline.stays.first_pass[4] == 6
    assert not account(Placement(timeline)).external.any()


@pytest.mark.parametrize(
    ("allocation", "expected"),
    [
        # 30 + 10 tokens, of which 33 are cached in pass 3.
        (Contiguous(64), [33, 7, 24, 0, 0, 0, 69]),
        (Paged(16), [33, 0, 0, 15, 0, 0, 85]),
        (Buddy("oracle", 64, 8), [33, 7, 0, 0, 24, 0, 69]),
        (Buddy("pow2", 64, 4), [33, 7, 6, 2, 16, 0, 69]),
        (FirstFit("pow2", 64, 4), [33, 7, 6, 2, 0, 0, 85]),
        (FirstFit("max", 60, 16), [33, 7, 20, 4, 0, 0, 69]),
    ],
    ids=str,
)
def test_parts_in_the_papers_terms(allocation, expected):
    use = account(Placement(simulate(Requests([0], [30], [10]), server(133), allocation)))
    assert [int(tokens[3]) for tokens in use.parts().values()] == expected
