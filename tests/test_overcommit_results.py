"""The results of the section on an overcommitted cache: what the simulation says, and small."""

from itertools import product

import numpy as np
import pytest
from sampling import fresh_random

import kvsim
from kvsim.paper import figure_19
from kvsim_app.allocations import SERVER
from kvsim_app.results import overcommit_results as results
from kvsim_app.results.files import OVERCOMMIT
from kvsim_app.sections.controls import Overcommit

TIMES = ("ttft", "tpot", "latency")


@pytest.fixture(scope="module")
def shipped():
    return results.load(OVERCOMMIT)


def positions():
    return product(*(range(len(axis)) for axis in results.AXES.values()))


def test_the_file_is_of_this_code_and_small(shipped):
    assert shipped.header["fingerprint"] == results.current_fingerprint()
    assert shipped.header["axes"] == {name: list(axis) for name, axis in results.AXES.items()}
    assert OVERCOMMIT.stat().st_size < 150_000


def test_the_fingerprint_tells_axes_and_the_derived_cost(monkeypatch):
    known = results.current_fingerprint()
    assert results.current_fingerprint(results.AXES | {"overcommit_rate": [21]}) != known
    monkeypatch.setitem(figure_19.published.FIGURE_19_SWAP_S, 1, 0.138)
    assert results.current_fingerprint() != known


def test_every_position_is_a_setting_of_its_own():
    found = list(results.settings(results.AXES))
    assert len(set(map(repr, found))) == len(found) == len(list(positions()))
    for (server, allocation, rate), place in zip(found, positions(), strict=True):
        way, watermark, size, wanted_rate = (
            axis[each] for axis, each in zip(results.AXES.values(), place, strict=True)
        )
        assert (allocation.block_size, rate) == (size, wanted_rate)
        assert allocation.watermark == pytest.approx(watermark / 100)
        assert allocation.preemption == ("recompute" if way == "recompute" else "swap")
        charged = figure_19.derive().copy_overhead_s if way == "charged" else 0
        assert server.gpu.copy_overhead_s == charged
        assert server.cache_bytes == SERVER.cache_bytes


def test_a_sample_of_positions_is_simulated_again(shipped):
    random = fresh_random()
    everything = list(zip(positions(), results.settings(results.AXES), strict=True))
    for place in random.integers(len(everything), size=6):
        position, setting = everything[place]
        print(position, setting)
        timelines = results.runs(setting)
        for name, value in results.figures(timelines).items():
            assert shipped.arrays[name][position] == pytest.approx(value, rel=1e-6), name
        events, again = shipped.events(position), results.drawn(timelines[0])
        for name in ("away", "recomputed", "moved", "cost"):
            assert events[name].tolist() == again[name].tolist(), name
        assert shipped.arrays["held"][position].tolist() == results.held(timelines[0]).tolist()


def test_figures_are_those_of_the_requests_and_of_the_minute():
    """By another way: from every request and every pass of a run."""
    setting = (SERVER, kvsim.Paged(64, preemption="swap"), 40)
    (run,) = results.runs(setting, replications=1)
    found = results.figures([run])
    assert found["ttft"] == pytest.approx(np.percentile(run.ttft_s, [50, 90, 99]))
    assert found["latency"] == pytest.approx(np.percentile(run.latency_s, [50, 90, 99]))
    several = run.requests.output_tokens > 1
    assert found["tpot"] == pytest.approx(np.percentile(run.tpot_s[several], [50, 90, 99]))

    moments = np.linspace(0, 60, 20_000, endpoint=False)
    running = [len(run.content_at(moment)[0]) for moment in moments]
    assert found["running"] == pytest.approx(np.mean(running), rel=2e-3)
    assert found["peak"] == max(running)

    whole = kvsim.preemptions(run)
    early = whole.evicted_s < 60
    assert 0 < early.sum() < len(whole)
    assert found["preemptions"] == early.sum()
    assert found["preempted"] == len(set(whole.request[early].tolist()))
    assert found["moved"] == whole.moved_bytes[early].sum() > 0
    assert found["lost"] == pytest.approx(whole.cost_s[early].sum())
    assert found["recomputed"] == 0


def test_what_is_drawn_is_what_happened():
    (run,) = results.runs((SERVER, kvsim.Paged(16), 32), replications=1)
    found, ticks = results.in_the_minute(run), results.drawn(run)
    assert len(found) == len(ticks["away"]) > 10
    evicted_s = np.cumsum(ticks["evicted_steps"]) * results.EVICTED_TICK_S
    assert evicted_s == pytest.approx(found.evicted_s, abs=results.EVICTED_TICK_S / 2)
    assert np.cumsum(ticks["request_steps"]).tolist() == found.request.tolist()
    returned_s = found.evicted_s + ticks["away"] * results.AWAY_TICK_S
    assert returned_s == pytest.approx(found.returned_s, abs=results.AWAY_TICK_S / 2)
    cost_s = ticks["cost"] * results.COST_TICK_S
    assert cost_s == pytest.approx(found.cost_s, abs=results.COST_TICK_S / 2)
    assert ticks["recomputed"].tolist() == found.recomputed_tokens.tolist()
    held = results.held(run)
    assert held[0] == 0
    assert held.max() * results.HELD_TICK == pytest.approx(1, abs=1e-3)


def test_nobody_is_pre_empted_at_a_rate_that_is_sustained(shipped):
    at = shipped.axis("overcommit_rate").index(20)
    assert (shipped.arrays["preemptions"][..., at] == 0).all()
    assert (shipped.arrays["preemptions"][:, 0, :, at + 1 :] > 0).all()


def test_a_watermark_trades_pre_emptions_for_running_requests(shipped):
    beyond = shipped.arrays["preemptions"][..., 2:]
    assert (np.diff(beyond, axis=1) <= 0).all()
    assert (beyond[:, -1] == 0).all()
    running = shipped.arrays["running"][..., 2:]
    assert (running[:, -1] < running[:, 0]).all()


def test_only_one_way_moves_and_only_the_other_computes_again(shipped):
    recomputed, moved = shipped.arrays["recomputed"], shipped.arrays["moved"]
    preempted = shipped.arrays["preemptions"] > 0
    assert (recomputed[0] > 0).tolist() == preempted[0].tolist()
    assert (recomputed[1:] == 0).all()
    assert (moved[1:] > 0).tolist() == preempted[1:].tolist()
    assert (moved[0] == 0).all()


def test_charged_swaps_are_slow_with_small_blocks(shipped):
    """As in figure 19: much dearer than recomputing with blocks of 1, cheaper with 256."""
    lost = shipped.arrays["lost"][:, 0, :, -1]
    recompute, swap, charged = lost
    assert charged[0] > 5 * recompute[0]
    assert charged[-1] < recompute[-1] / 2
    assert (swap < recompute).all()


def test_what_does_not_fit_its_column_is_refused():
    with pytest.raises(OverflowError, match="0 to 65536 do not fit uint16"):
        results._whole(np.array([0, 65536]), np.uint16)
    assert results._whole(np.array([], np.int64), np.uint16).dtype == np.uint16


def test_the_controls_offer_what_is_kept():
    for name in list(results.AXES)[1:]:
        assert list(Overcommit.param[name].objects) == list(results.AXES[name])


def test_events_of_all_positions_are_told_apart(shipped):
    total = 0
    for place in positions():
        events = shipped.events(place)
        total += len(events["cost"])
        assert (events["evicted"] >= 0).all()
        assert (events["evicted"] <= 6000).all()
        assert ((events["recomputed"] > 0) == (place[0] == 0)).all()
    assert total == len(shipped.arrays["event_cost"])
