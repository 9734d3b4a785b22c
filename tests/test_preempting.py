"""What pre-emption cost: by hand, and against the passes of the slow simulator."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import slow
from hypothesis import Phase, given, settings
from test_engine import CLOCKWORK_GPUS, CLOCKWORK_MODEL, small_runs
from test_sharing import shared_runs

from kvsim import Paged, Requests, Server, preemptions, simulate

SLOW_GPU, FAST_GPU = CLOCKWORK_GPUS  # 4 and 16 FLOP/s; a byte takes a quarter of a second


def two_requests(preemption, gpu=SLOW_GPU):
    """Two requests in four blocks of two tokens. The first needs a third block in pass 2.

    Then the second one has 3 cached tokens in two blocks. It returns in pass 4, with a fourth.
    """
    requests = Requests([0, 0], prompt_tokens=[3, 2], output_tokens=[4, 3])
    server = Server(CLOCKWORK_MODEL, gpu, cache_bytes=32)
    return simulate(requests, server, Paged(2, preemption=preemption))


def assert_found(found, **columns):
    for name, values in columns.items():
        assert getattr(found, name).tolist() == values, name


def test_recomputing_by_hand():
    # Passes of 20, 12, 8 and 9 s; the fifth computes 4 tokens in place of 1, 18 s in place of 6.
    assert_found(
        preemptions(two_requests("recompute")),
        request=[1],
        evicted_s=[32],
        returned_s=[49],
        cached_tokens=[3],
        recomputed_tokens=[3],
        moved_bytes=[0],
        cost_s=[12],
    )


def test_recomputing_costs_nothing_while_memory_is_read_anyway():
    found = preemptions(two_requests("recompute", FAST_GPU))
    assert_found(found, recomputed_tokens=[3], cost_s=[0])


@pytest.mark.parametrize(("copy_s", "cost_s", "returned_s"), [(0, 6, 52), (0.5, 10, 54)])
def test_swapping_by_hand(copy_s, cost_s, returned_s):
    # 3 tokens of 4 bytes, there and back, in 4 blocks of 2 copies.
    gpu = replace(SLOW_GPU, copy_overhead_s=copy_s)
    assert_found(
        preemptions(two_requests("swap", gpu)),
        request=[1],
        evicted_s=[32],
        returned_s=[returned_s],
        cached_tokens=[3],
        recomputed_tokens=[0],
        moved_bytes=[24],
        cost_s=[cost_s],
    )


def test_without_pre_emption_there_is_nothing():
    found = preemptions(simulate(Requests([0], [3], [2]), Server(), Paged()))
    assert len(found) == 0
    assert found.cost_s.shape == found.request.shape == (0,)


def expected(exact, server, allocation):
    """Every pre-emption, read off the slow simulator's passes; nothing may be shared."""
    token_bytes = slow.kv_bytes_per_token(server.model)
    copies = 2 * server.model.layers
    scale = 1 + allocation.block_overhead / allocation.block_size
    rows = []
    for q, (before, one) in enumerate(zip(exact.passes, exact.passes[1:], strict=False), start=1):
        for number in before.cached.keys() - one.cached.keys():
            if exact.requests[number].finish_s == before.end_s:
                continue
            tokens = before.cached[number]
            back = next(each for each in exact.passes[q:] if number in each.admitted)
            # Without this one's: the pass that it returned in, with one token of its computed.
            again = tokens if allocation.preemption == "recompute" else 0
            computed = {
                each: cached - back.ready.get(each, cached - 1)
                for each, cached in back.cached.items()
            }
            processed = sum(computed.values())
            attended = sum(
                sum(range(cached - computed[each] + 1, cached + 1))
                for each, cached in back.cached.items()
            )
            spared = sum(range(1, again + 1))
            held = sum(back.cached.values())
            longer, shorter = (
                max(slow.roofline_s(server, *work, held, scale))
                for work in ((processed, attended), (processed - again, attended - spared))
            )
            moved = 0 if again else 2 * tokens
            blocks = 0 if again else 2 * -(-tokens // allocation.block_size)
            moving_s = moved * token_bytes / server.gpu.effective_pcie_bandwidth
            moving_s += blocks * copies * server.gpu.copy_overhead_s
            rows.append(
                (
                    one.start_s,
                    back.start_s,
                    number,
                    tokens,
                    again,
                    moved * token_bytes,
                    longer - shorter + moving_s,
                )
            )
    return sorted(rows)


def found_rows(found):
    columns = (
        found.evicted_s,
        found.returned_s,
        found.request,
        found.cached_tokens,
        found.recomputed_tokens,
        found.moved_bytes,
        found.cost_s,
    )
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def charged(run):
    """The same run on a GPU on which every copy to the host takes some time of its own."""
    requests, server, allocation = run
    return requests, replace(server, gpu=replace(server.gpu, copy_overhead_s=1e-4)), allocation


@settings(max_examples=300)
@given(small_runs(kinds=[Paged]))
def test_agrees_with_the_slow_simulator(run):
    run = charged(run)
    found = preemptions(simulate(*run))
    wanted = expected(slow.simulate(*run), *run[1:])
    assert (np.diff(found.evicted_s) >= 0).all()
    assert len(found) == len(wanted)
    for row, wanted_row in zip(found_rows(found), wanted, strict=True):
        assert row == pytest.approx(wanted_row, rel=1e-9, abs=1e-9)


@settings(max_examples=300)
@given(shared_runs())
def test_what_samples_moved_is_counted_once(run):
    """All that passes moved, and all that was computed again, is of some pre-emption."""
    requests, server, _ = run
    timeline, exact = simulate(*run), slow.simulate(*run)
    found = preemptions(timeline)
    moved = sum(one.moved_tokens for one in exact.passes)
    assert found.moved_bytes.sum() == moved * slow.kv_bytes_per_token(server.model)
    assert np.bincount(found.request, minlength=len(requests)).tolist() == [
        request.preemptions for request in exact.requests
    ]
    seen, again = set(), 0
    for one in exact.passes:
        for number in one.admitted:
            again += (one.cached[number] - one.ready[number] - 1) * (number in seen)
            seen.add(number)
    assert found.recomputed_tokens.sum() == again
    assert (found.cost_s >= 0).all()


def test_the_strategies_pre_empt_in_both_ways():
    seen = Counter()

    @settings(max_examples=300, derandomize=True, database=None, phases=[Phase.generate])
    @given(small_runs(kinds=[Paged]))
    def count(run):
        seen["runs"] += 1
        seen[run[2].preemption] += bool(len(preemptions(simulate(*run))))

    count()
    assert min(seen["recompute"], seen["swap"]) > seen["runs"] / 20
