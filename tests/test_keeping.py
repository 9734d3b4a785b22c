"""What is kept of a result: JSON, CSV and Python, each with the same figures."""

import csv
import io
import json
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvsim import (
    A100_80GB,
    AZURE_CODE,
    H100,
    OPT_13B,
    SHAREGPT,
    Buddy,
    Contiguous,
    ExponentialLengths,
    Paged,
    Server,
    ServiceLimits,
    Setting,
    python_lines,
    record,
    requests_csv,
    to_csv,
    to_json,
)

BRIEF = {"replications": 2, "duration_s": 3.0}
SETTINGS = {
    "the plate's": Setting(**BRIEF),
    "contiguous": Setting(
        allocation=Contiguous(4096), lengths=ExponentialLengths(max_length=4096), **BRIEF
    ),
    "presets": Setting(Server(OPT_13B, A100_80GB, 3e10), Paged(32), SHAREGPT, 2.5, **BRIEF),
    "other efficiencies": Setting(
        Server(gpu=replace(H100, compute_share=0.7, bandwidth_share=1 / 3)),
        Buddy("pow2", 8192),
        AZURE_CODE,
        seed=5,
        limits=ServiceLimits(ttft_s=0.1, latency_s=2),
        **BRIEF,
    ),
    "nobody comes": Setting(rate_per_s=1e-9, **BRIEF),
}


@pytest.fixture(scope="module", params=SETTINGS)
def result(request):
    setting = SETTINGS[request.param]
    return setting, setting.summary(), setting.binding_limits()


def same(left, right):
    return left == right or (math.isnan(left) and math.isnan(right))


def rows(text):
    """Rows of a table of RFC 4180, each as a dictionary."""
    assert text.endswith("\r\n")
    assert "\n" not in text.replace("\r\n", "")
    read = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert {len(row) for row in read} == {len(read[0])}
    assert len(set(read[0])) == len(read[0])
    return [dict(zip(read[0], row, strict=True)) for row in read[1:]]


def test_the_lines_of_python_give_the_same_figures(result, capsys):
    setting, summary, limits = result
    made = {}
    exec(python_lines(setting), made)
    assert made["setting"] == setting
    figures = made["summary"].figures()
    assert figures.keys() == summary.figures().keys()
    assert all(same(figures[name], value) for name, value in summary.figures().items())
    assert np.array_equal(made["limits"].ttft_saved, limits.ttft_saved, equal_nan=True)
    assert str(limits.names) in capsys.readouterr().out


def test_json_has_all_and_in_full(result):
    setting, summary, limits = result
    kept = json.loads(to_json(record(setting, summary, limits)))
    for name, value in summary.figures().items():
        assert kept["figures"][name] == (None if math.isnan(value) else value), name
    assert kept["setting"]["seed"] == setting.seed
    assert kept["setting"]["server"]["gpu"]["compute_share"] == setting.server.gpu.compute_share
    assert kept["setting"]["allocation"]["kind"] == type(setting.allocation).__name__
    assert kept["setting"]["limits"]["ttft_s"] == setting.limits.ttft_s
    assert kept["binding_limit"]["name"] == limits.names[0]
    assert kept["python"] == python_lines(setting)
    assert list(kept["binding_limit"]["ttft_saved_share"]) == ["memory", "compute", "bandwidth"]


def test_a_table_has_a_row_for_each_setting():
    results = [(each, each.summary(), each.binding_limits()) for each in SETTINGS.values()]
    read = rows(to_csv(results))
    assert len(read) == len(results)
    for row, (setting, summary, limits) in zip(read, results, strict=True):
        for name, value in summary.figures().items():
            assert row[name] == ("" if math.isnan(value) else repr(value)), name
        assert row["allocation"] == repr(setting.allocation)
        assert float(row["rate_requests_per_s"]) == setting.rate_per_s
        assert int(row["seed"]) == setting.seed
        assert row["ttft_limit_s"] == str(setting.limits.ttft_s or "")
        assert row["binding_limit"] == limits.names[0]
        share = limits.ttft_saved[1, 0]
        assert row["ttft_saved_by_twice_the_compute_share"] == (
            "" if np.isnan(share) else repr(float(share))
        )


def test_without_limits_their_fields_are_empty():
    setting = SETTINGS["the plate's"]
    summary = setting.summary()
    assert record(setting, summary)["binding_limit"] is None
    (row,) = rows(to_csv([(setting, summary, None)]))
    assert [value for name, value in row.items() if "saved" in name] == [""] * 6
    assert row["binding_limit"] == ""


def test_every_request_is_a_row(result):
    setting, *_ = result
    runs = setting.run()
    read = rows(requests_csv(runs, setting.limits))
    assert len(read) == sum(len(run.requests) for run in runs)
    for row in read:
        run, request = runs[int(row["run"])], int(row["request"])
        assert float(row["arrival_s"]) == run.requests.arrival_s[request]
        assert int(row["output_tokens"]) == run.requests.output_tokens[request]
        assert float(row["ttft_s"]) == run.ttft_s[request]
        assert float(row["latency_s"]) == run.latency_s[request]
        assert (row["tpot_s"] == "") == (run.requests.output_tokens[request] == 1)
        assert row["tpot_s"] == "" or float(row["tpot_s"]) == run.tpot_s[request]
        assert int(row["preemptions"]) == run.preemptions[request]
        assert int(row["within_limits"]) == setting.limits.kept(run)[request]


@settings(max_examples=60)
@given(
    block_size=st.integers(1, 10**6),
    overhead=st.floats(0, 1e6),
    watermark=st.floats(0, 1, exclude_max=True),
    cache_bytes=st.floats(1e6, 1e15),
    share=st.floats(0, 1, exclude_min=True),
    rate=st.floats(1e-9, 3e5),
    seed=st.integers(0, 2**64),
)
def test_any_setting_comes_back_from_its_lines(
    block_size, overhead, watermark, cache_bytes, share, rate, seed
):
    setting = Setting(
        Server(gpu=replace(H100, compute_share=share), cache_bytes=cache_bytes),
        Paged(block_size, overhead, "swap", watermark),
        rate_per_s=rate,
        seed=seed,
    )
    made = {}
    exec(python_lines(setting).partition("summary = ")[0], made)
    assert made["setting"] == setting


@dataclass(frozen=True)
class Stranger(Paged):
    """An allocation that is not kvsim's own."""


def test_what_is_not_kvsims_own_is_not_written_as_python():
    with pytest.raises(ValueError, match=r"^Stranger.* cannot be written as Python: .*\.$"):
        python_lines(Setting(allocation=Stranger()))


def test_limits_at_another_rate_are_refused():
    setting = SETTINGS["the plate's"]
    limits = replace(setting, rate_per_s=2).binding_limits()
    with pytest.raises(ValueError, match=r"limits are those at \[2\.0\] requests/s: give .* 18\.0"):
        record(setting, setting.summary(), limits)


def test_a_table_of_nothing_is_refused():
    with pytest.raises(ValueError, match="results is empty"):
        to_csv([])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rate_per_s", 0),
        ("rate_per_s", float("nan")),
        ("duration_s", -1),
        ("replications", 0),
        ("seed", -1),
        ("seed", 0.5),
        ("server", "H100"),
        ("limits", 3),
    ],
)
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"^{name} is {value!r}: .*\.$"):
        Setting(**{name: value})
