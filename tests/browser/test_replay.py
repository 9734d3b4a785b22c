"""The script's replay of a film is Python's: who runs, who waits, where each token lies, and why.

Settings and passes are others in each run; with a failure stands the line that repeats it.
"""

import base64
import hashlib
from types import SimpleNamespace

import numpy as np
import pytest
from film_reading import DEFAULTS, film_bytes, passes_of, random_settings, run_of
from sampling import fresh_random

from kvsim import Placement, account
from kvsim_app.allocations import SERVER

SAMPLE = 8  # passes that are compared token by token
# The script's names of the parts, and what Python adds up to each.
PARTS = {
    "tokens": ("token_states",),
    "reserved": ("reserved",),
    "internal": ("internal",),
    "ends": ("unfilled",),
    "rounding": ("rounding",),
    "external": ("external",),
    "free": ("free",),
}
# At the ends of the sliders, and anywhere.
CASES = {
    "contiguous": ("contiguous", {"block_overhead": 0.0}),
    "contiguous, 1 024": ("contiguous", {"max_length": 1024, "rate": 40, "block_overhead": 0.0}),
    "contiguous, 131 072": ("contiguous", {"max_length": 131072, "block_overhead": 0.0}),
    "slots": ("contiguous", {"reservation": "slots"}),
    "buddy": ("contiguous", {"reservation": "buddy-pow2", "rate": 40}),
    "first fit": (
        "contiguous",
        {
            "reservation": "firstfit-oracle",
            "rate": 30,
            "workload": "exponential",
            "max_length": 8192,
        },
    ),
    "paged": ("paged", {}),
    "paged, once more": ("paged", {}),
    "paged, pre-empting": ("paged", {"max_length": 8192, "rate": 40, "workload": "exponential"}),
    "blocks of 1": ("paged", {"block_size": 1, "rate": 40}),
    "blocks of 256": ("paged", {"block_size": 256, "rate": 40}),
    "hardly anybody": ("paged", {"rate": 1}),
}


@pytest.fixture(params=CASES)
def run(request, workbench):
    """A run in Python, and its film opened in the page."""
    random = fresh_random()
    kind, given = CASES[request.param]
    settings = random_settings(random, **given)
    print(kind, settings)
    timeline = run_of(kind, settings)
    data = base64.b64encode(film_bytes(**settings)).decode()
    opened = workbench.evaluate(
        "([...given]) => filming.open(...given)",
        [data, kind, settings, SERVER.capacity_tokens],
    )
    return SimpleNamespace(
        page=workbench,
        kind=kind,
        random=random,
        timeline=timeline,
        placement=Placement(timeline),
        passes=passes_of(timeline),
        opened=opened,
    )


def events_of(run):
    """Every pass in which somebody enters or has left, or that is the film's last."""
    stays = run.timeline.stays
    passes = np.unique(np.concatenate([stays.first_pass, stays.last_pass + 1, [run.passes - 1]]))
    return passes[passes < run.passes]


def test_the_replay_is_pythons(run):
    assert run.opened["passes"] == run.passes
    assert run.opened["stays"] == np.count_nonzero(run.timeline.stays.first_pass < run.passes)
    check_places(run)
    check_every_unit(run)
    check_counts(run)


def check_places(run):
    """In some passes: the requests, their tokens, and their blocks, in the order of tokens."""
    last = run.passes - 1
    for q in [0, *run.random.integers(run.passes, size=SAMPLE).tolist(), last]:
        print("pass", q)
        shown = run.page.evaluate("q => filming.places(q)", q)
        places = run.placement.at(q)
        assert shown["places"] == [
            [place.request, place.cached_tokens, len(place.units)] for place in places
        ]
        units = np.frombuffer(base64.b64decode(shown["units"]), np.uint32)
        wanted = [np.array(place.units) for place in places]
        np.testing.assert_array_equal(units, np.concatenate([*wanted, np.zeros(0, int)]))
        assert len(np.unique(units)) == len(units), "a unit has two owners"
        assert units.max(initial=0) < run.opened["units"]


def check_every_unit(run):
    """All addresses of the whole film; they never move, so this is each of its passes."""
    stays = run.timeline.stays
    seen = np.flatnonzero(stays.first_pass < run.passes)
    last = np.minimum(stays.last_pass, run.passes - 1)
    held = run.timeline.held(seen, stays.tokens_in(last)[seen])[1].tolist()
    units = [run.placement.units[stay][:count] for stay, count in zip(seen, held, strict=True)]
    digest = hashlib.sha256(b"".join(np.array(each, np.int32).tobytes() for each in units))
    assert run.page.evaluate("filming.digest()") == digest.hexdigest()


def check_counts(run):
    """At every event: running, waiting, and parts that are the whole cache."""
    timeline = run.timeline
    events = events_of(run)
    shown = run.page.evaluate("passes => filming.counts(passes)", events.tolist())
    assert [each["q"] for each in shown] == events.tolist()
    assert [each["running"] for each in shown] == timeline.pass_log.batch[events].tolist()
    use = account(run.placement).parts()
    for name, summed in PARTS.items():
        wanted = sum(use[each] for each in summed)[events]
        assert [each["parts"].pop(name) for each in shown] == wanted.tolist(), name
    assert all(each["parts"] == {} for each in shown), "a part that Python does not know"
    assert sum(tokens[events] for tokens in use.values()).tolist() == (
        [SERVER.capacity_tokens] * len(events)
    )
    waiting = [timeline.waiting_at(timeline.pass_start_s(q)) for q in events.tolist()]
    assert [each["waiting"] for each in shown] == waiting


def test_the_cases_are_what_they_say(workbench):
    """The run at 40 requests a second does pre-empt, and a contiguous cache can hold three."""
    crowded = run_of("paged", DEFAULTS | {"rate": 40})
    assert np.count_nonzero(crowded.stays.evicted & (crowded.stays.last_pass < passes_of(crowded)))
    assert SERVER.capacity_tokens // 131072 == 3
