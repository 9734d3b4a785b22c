"""The worked cases handed over with the model's definition, to 1e-9 relative."""

import numpy as np
import pytest
import slow
from helpers import golden_cases, golden_run

from kvsim import simulate

CASES = golden_cases()


def test_all_cases_are_here():
    assert len(CASES) == 21


@pytest.mark.parametrize("name", CASES)
def test_kvsim(name):
    case = CASES[name]
    timeline = simulate(*golden_run(case))
    np.testing.assert_allclose(timeline.ttft_s, case["ttft_s"], rtol=1e-9)
    np.testing.assert_allclose(timeline.finish_s, case["finish_s"], rtol=1e-9)
    assert timeline.preemptions.sum() == case["preemptions"]
    assert timeline.peak_running == case["peak_running"]
    assert timeline.passes == case["passes"]


@pytest.mark.parametrize("name", CASES)
def test_slow_simulator(name):
    case = CASES[name]
    run = slow.simulate(*golden_run(case))
    np.testing.assert_allclose([r.ttft_s for r in run.requests], case["ttft_s"], rtol=1e-9)
    np.testing.assert_allclose([r.finish_s for r in run.requests], case["finish_s"], rtol=1e-9)
    assert sum(r.preemptions for r in run.requests) == case["preemptions"]
    assert run.peak_running == case["peak_running"]
    assert len(run.passes) == case["passes"]
