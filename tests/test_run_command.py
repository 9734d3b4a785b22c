"""``kvsim run`` and ``kvsim limits``: what they print, write and refuse."""

import csv
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvsim import H100, Contiguous, ExponentialLengths, Server, ServiceLimits, Setting, to_csv
from kvsim.__main__ import main
from kvsim.commands.limits import text
from kvsim.keeping import requests_csv
from kvsim.measured import comparison, notes

BRIEF = ("--duration", "2", "--replications", "2")


def test_figures_are_those_of_the_setting(capsys):
    options = "--allocation contiguous --max-length 4096 --rate 7.5 --cache-gb 20 --seed 9"
    options += " --ttft-limit 0.03 --latency-limit 2 --compute-share 0.7 --bandwidth-share 0.9"
    assert main(["run", *options.split(), *BRIEF, "--json"]) == 0
    kept = json.loads(capsys.readouterr().out)
    setting = Setting(
        Server(gpu=replace(H100, compute_share=0.7, bandwidth_share=0.9), cache_bytes=20e9),
        Contiguous(4096),
        ExponentialLengths(max_length=4096),
        rate_per_s=7.5,
        replications=2,
        seed=9,
        duration_s=2,
        limits=ServiceLimits(ttft_s=0.03, latency_s=2),
    )
    figures = setting.summary().figures()
    assert kept["figures"] == figures
    assert 0 < figures["goodput_requests_per_s"] < figures["completed_requests_per_s"]
    assert kept["binding_limit"]["name"] == setting.binding_limits().names[0]
    made = {}
    exec(kept["python"].partition("summary = ")[0], made)
    assert made["setting"] == setting


def test_text_says_the_same(capsys):
    assert main(["run", *BRIEF, "--rate", "30", "--tpot-limit", "0.02"]) == 0
    said = capsys.readouterr().out
    setting = Setting(
        rate_per_s=30, replications=2, duration_s=2, limits=ServiceLimits(tpot_s=0.02)
    )
    summary = setting.summary()
    lines = {line[:28].strip(): line[28:].split() for line in said.splitlines()[1:]}
    for name, percentiles in (
        ("time to first token, s", summary.ttft_s),
        ("time per output token, s", summary.tpot_s),
        ("latency, s", summary.latency_s),
    ):
        printed = [float(value) for value in lines[name]]
        assert printed == pytest.approx([percentiles.p50, percentiles.p90, percentiles.p99], 1e-3)
    assert float(lines["completed"][0]) == pytest.approx(summary.completed_per_s, 1e-3)
    assert float(lines["goodput"][0]) == pytest.approx(summary.goodput_per_s, 1e-3)
    assert lines["limit that binds"] == setting.binding_limits().names
    assert f"{summary.requests:,} requests in 2 runs of 2 s" in said


def test_without_limits_no_goodput_is_printed(capsys):
    assert main(["run", *BRIEF]) == 0
    assert "goodput" not in capsys.readouterr().out


def test_files_hold_what_the_functions_return(tmp_path, capsys):
    figures, requests = tmp_path / "figures.csv", tmp_path / "requests.csv"
    options = ["--csv", str(figures), "--requests", str(requests), "--lengths", "sharegpt"]
    assert main(["run", *BRIEF, *options]) == 0
    assert capsys.readouterr().err == ""
    assert main(["run", *BRIEF, "--lengths", "sharegpt", "--python"]) == 0
    made = {}
    exec(capsys.readouterr().out, made)
    setting, summary = made["setting"], made["summary"]
    assert figures.read_bytes().decode() == to_csv([(setting, summary, made["limits"])])
    assert requests.read_bytes().decode() == requests_csv(setting.run())
    with requests.open(newline="", encoding="utf-8") as file:
        assert sum(1 for _ in csv.reader(file)) == summary.requests + 1


def test_python_is_printed_without_a_simulation(monkeypatch, capsys):
    monkeypatch.setattr("kvsim.setting.simulate", None)
    assert main(["run", "--python"]) == 0
    compile(capsys.readouterr().out, "lines", "exec")


def test_nobody_comes(capsys):
    assert main(["run", *BRIEF, "--rate", "1e-4"]) == 0
    assert "No request arrived: raise --rate or --duration." in capsys.readouterr().out
    assert main(["run", *BRIEF, "--rate", "1e-4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["figures"]["ttft_p50_s"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--rate 1e9", "at most 5,000,000 are simulated: lower --rate"),
        ("--cache-gb 1e-9", "cache_bytes is 1.0: it must hold at least one token"),
        ("--allocation contiguous --max-length 1000000", "max_length is 1,000,000 tokens, but"),
        ("--cache-gb 0.2 --max-length 8192", "but an empty cache can give it"),
        ("--csv {folder}/x --requests {folder}/x", "name two files."),
        ("--csv {folder}/x --python", "--csv writes nothing with --python"),
        ("--csv {folder}", "cannot be written (Is a directory): name another file."),
        ("--requests {folder}/none/here", "cannot be written (No such file or directory)"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(tmp_path, capsys, options, said):
    assert main(["run", *BRIEF, *options.format(folder=tmp_path).split()]) == 1
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.endswith(".\n")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize("command", ["run", "limits"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--compute-share", "1.1"), "'1.1' is no share: give a number from 0.001 to 1"),
        (("--bandwidth-share", "0"), "'0' is no share: give a number from 0.001 to 1"),
        (("--bandwidth-share", "nan"), "'nan' is no share"),
        (("--bandwidth-share", "1e-320"), "'1e-320' is no share"),
    ],
)
def test_shares_are_checked(capsys, command, options, said):
    with pytest.raises(SystemExit, match="2"):
        main([command, *options])
    assert said in capsys.readouterr().err


NUMBERS = ["rate", "duration", "cache-gb", "ttft-limit", "tpot-limit", "latency-limit"]
WHOLE = ["block-size", "max-length", "replications", "seed"]


@settings(max_examples=300)
@given(
    option=st.sampled_from([*NUMBERS, *WHOLE, "allocation", "lengths", "compute-share"]),
    value=st.text(max_size=12) | st.floats().map(str) | st.integers().map(str),
)
def test_any_text_is_taken_or_refused(option, value):
    """Nothing is simulated with ``--python``."""
    try:
        status = main(["run", "--python", f"--{option}={value}"])
    except SystemExit as refused:
        status = refused.code
    assert status in (0, 1, 2)


def test_limits_print_the_comparison(capsys):
    assert main(["limits", "--compute-share", "0.5"]) == 0
    result = comparison(replace(H100, compute_share=0.5))
    said = capsys.readouterr().out
    assert said == text(result) + "\n"
    assert max(map(len, said.splitlines())) <= 90
    for row in result["decode"]:
        assert f"{row['context_tokens']:,}" in said
        assert f"{1000 * row['simulated_s']:.3f} ms" in said
    assert f"{100 * result['prefill'][0]['pessimistic_share']:.1f} %" in said
    assert "assumes 50 % of peak" in " ".join(said.split())


def test_limits_as_json(capsys):
    assert main(["limits", "--json"]) == 0
    result = comparison()
    assert json.loads(capsys.readouterr().out) == result | {"notes": notes(result)}


@pytest.mark.parametrize("program", ["kvsim", "kvsim_app"])
@pytest.mark.parametrize("command", [("limits",), ("run", *BRIEF)], ids=" ".join)
def test_both_programs_have_the_commands(program, command):
    run = subprocess.run([sys.executable, "-m", program, *command], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert "%" in run.stdout
