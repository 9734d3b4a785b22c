"""A trace replayed: the run of its own requests, what binds in it, and how it is kept."""

import csv
import io
import json

import numpy as np
import pytest

import kvsim
from kvsim.binding import doubled

TEXT = "arrival_s,prompt_tokens,output_tokens\n" + "".join(
    f"{1000 + 0.05 * n},{200 + 37 * n % 900},{1 + 53 * n % 300}\n" for n in range(200)
)
TRACE = kvsim.read_trace(TEXT)
SMALL = kvsim.Server(cache_bytes=1e9)


def replay(**more):
    return kvsim.Replay(TRACE, SMALL, kvsim.Paged(16), 1000, **more)


def test_its_own_times_are_simulated():
    one = replay()
    (run,) = one.run()
    expected = kvsim.simulate(TRACE.cut(1000).requests(), SMALL, kvsim.Paged(16))
    assert np.array_equal(run.ttft_s, expected.ttft_s)
    assert (run.requests.prompt_tokens + run.requests.output_tokens).max() == 1000
    assert one.rate_per_s == pytest.approx(20)
    assert one.duration_s == pytest.approx(9.95)
    assert one.summary().requests == 200


def test_a_rate_stretches_all_gaps():
    slow = replay(scaled_to_per_s=2.0)
    assert slow.rate_per_s == 2
    assert slow.duration_s == pytest.approx(99.5)
    assert slow.summary().ttft_s.p50 < replay().summary().ttft_s.p50


def test_what_binds_is_what_shortens_the_wait_most():
    limits = replay().binding_limits()
    runs = {
        name: kvsim.simulate(replay().requests, server, kvsim.Paged(16))
        for name, server in ({"none": SMALL} | doubled(SMALL)).items()
    }
    medians = {name: np.median(run.ttft_s) for name, run in runs.items()}
    for place, name in enumerate(("memory", "compute", "bandwidth")):
        assert limits.ttft_saved[place, 0] == pytest.approx(1 - medians[name] / medians["none"])
    assert limits.names == [min(medians, key=medians.get)]


@pytest.mark.parametrize("rate", [None, 7.0])
def test_the_lines_of_python_replay_it_again(rate, tmp_path, monkeypatch):
    one = replay(scaled_to_per_s=rate, limits=kvsim.ServiceLimits(ttft_s=0.5))
    (tmp_path / "trace.csv").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    made = {}
    exec(kvsim.python_lines(one), made)
    assert made["summary"] == one.summary()
    assert made["limits"].names == one.binding_limits().names


def test_it_is_kept_as_settings_are():
    one = replay()
    kept = (one, one.summary(), one.binding_limits())
    record = json.loads(kvsim.to_json(kvsim.record(*kept)))
    assert record["setting"]["trace"] == {"kind": "Trace", "requests": 200, "sha256": TRACE.digest}
    (row,) = csv.DictReader(io.StringIO(kvsim.to_csv([kept])))
    assert row["requests"] == "200"
    assert row["binding_limit"] == kept[2].names[0]


def test_settings_that_draw_from_a_trace_are_kept_too(tmp_path, monkeypatch):
    setting = kvsim.Setting(SMALL, lengths=TRACE.lengths(800), rate_per_s=2.0, replications=1)
    (tmp_path / "trace.csv").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    made = {}
    exec(kvsim.python_lines(setting), made)
    assert made["summary"] == setting.summary()
    assert json.loads(kvsim.to_json(kvsim.record(setting, setting.summary())))["figures"]


def test_requests_of_one_moment_have_no_rate_to_be_scaled():
    at_once = kvsim.read_trace("arrival_s,prompt_tokens,output_tokens\n3,10,10\n3,10,10\n")
    assert kvsim.Replay(at_once).rate_per_s == float("inf")
    assert kvsim.Replay(at_once).summary().requests == 2
    with pytest.raises(ValueError, match="at once"):
        kvsim.Replay(at_once, scaled_to_per_s=2.0)


@pytest.mark.parametrize("bad", [{"max_length": 1}, {"scaled_to_per_s": 0}])
def test_bad_values_are_refused(bad):
    with pytest.raises(ValueError, match=str(next(iter(bad.values())))):
        kvsim.Replay(TRACE, **bad)
