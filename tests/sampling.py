"""Random samples that differ from run to run and can be repeated."""

import os
import secrets

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

VARIABLE = "KVSIM_TEST_SEED"


def fresh_random():
    """A generator with a new seed; pytest shows with a failure which one, and how to repeat it."""
    seed = int(os.environ.get(VARIABLE) or secrets.randbits(32))
    print(f"{VARIABLE}={seed} repeats this sample")
    return np.random.default_rng(seed)


def some(strategy, count):
    """So many examples of a strategy."""
    drawn = []

    @settings(max_examples=count, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(strategy)
    def draw(example):
        drawn.append(example)

    draw()
    return drawn
