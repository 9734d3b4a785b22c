"""Films: cut from a run without changing what it says, kept in one small file, and current."""

import numpy as np
import pytest
from film_reading import (
    DEFAULTS,
    KINDS,
    FilmClock,
    FilmFile,
    allocation_of,
    check_same,
    film_bytes,
    lengths_of,
    passes_of,
    random_settings,
    run_of,
)
from sampling import fresh_random

import kvsim
from kvsim.traffic import PLATE_DURATION_S
from kvsim_app.assets import LINKED, inlined_page, linked_page
from kvsim_app.results.atlas_build import PLANS
from kvsim_app.results.files import ATLASES, FILMS, load_results
from kvsim_app.results.films import (
    CLOCK_TOLERANCE_S,
    TICK_S,
    film_at,
    film_of,
    make_films,
    to_bytes,
)
from kvsim_app.settings import Settings, values

PAGE_BYTES = 3_000_000
SAMPLE = 16
STALE = "the films are stale: make them again with `kvsim atlas`"
# Idle most of the time, at the plate's own settings, pre-empting, and queueing for three slots.
CASES = {
    "idle": ("paged", {"rate": 1}),
    "the plate's": ("paged", {}),
    "pre-empting": ("paged", {"rate": 40}),
    "queueing": ("contiguous", {"max_length": 131072, "rate": 40}),
    "in holes too small": ("contiguous", {"reservation": "firstfit-oracle", "rate": 30}),
    "anything": (None, None),
}


@pytest.fixture(params=CASES)
def case(request):
    """A run and its film."""
    kind, given = CASES[request.param]
    if kind is None:
        random = fresh_random()
        kind, given = random.choice(KINDS), random_settings(random)
        print(kind, given)
    timeline = run_of(kind, DEFAULTS | given)
    return timeline, film_of(timeline)


def test_a_film_has_the_stays_of_the_first_minute(case):
    timeline, film = case
    stays, passes = timeline.stays, passes_of(timeline)
    seen = stays.first_pass < passes
    assert film.request.tolist() == stays.request[seen].tolist()
    assert film.first_pass.tolist() == stays.first_pass[seen].tolist()
    # First tokens and ends are not kept: they follow from the lengths, except where one is evicted.
    evicted = {
        stay: last
        for stay, last in enumerate(stays.last_pass.tolist())
        if stays.evicted[stay] and last < passes
    }
    assert dict(zip(film.evicted.tolist(), film.evicted_pass.tolist(), strict=True)) == evicted


def test_a_film_of_a_crowded_cache_has_evictions():
    lengths = kvsim.ExponentialLengths()
    assert len(film_at(kvsim.Paged(16), lengths, 40).evicted) > 0
    assert len(film_at(kvsim.Paged(16), lengths, 18).evicted) == 0


def test_runs_of_blocks_are_where_the_allocator_put_them():
    settings = DEFAULTS | {"reservation": "firstfit-oracle", "rate": 30}
    timeline = run_of("contiguous", settings)
    film, placement = film_of(timeline), kvsim.Placement(timeline)
    for stay, (start, blocks) in enumerate(zip(film.run_start, film.run_blocks, strict=True)):
        assert placement.units[stay] == range(start, start + blocks)
    changes = np.zeros(passes_of(timeline) + 1, int)
    changes[film.scattered] = 1
    scattered = np.cumsum(changes)[:-1] % 2 == 1
    assert scattered.tolist() == placement.scattered[: len(scattered)].tolist()
    assert scattered.any()


def test_evictions_after_the_end_are_not_of_the_film():
    """Cut while one is there that will be evicted: the film does not know that yet."""
    timeline = run_of("paged", DEFAULTS | {"rate": 40})
    stays = timeline.stays
    doomed = int(np.flatnonzero(stays.evicted & (stays.last_pass > stays.first_pass))[-1])
    last = int(stays.last_pass[doomed])
    film = film_of(timeline, duration_s=timeline.pass_start_s(last))
    assert film.clock_pass[-1] == last
    assert stays.first_pass[doomed] < last
    assert doomed not in film.evicted.tolist()
    assert len(film.evicted) > 0
    assert film.evicted_pass.max() < last


def test_the_clock_stays_within_its_tolerance(case):
    timeline, film = case
    passes = np.arange(passes_of(timeline))
    log = timeline.pass_log
    slack = CLOCK_TOLERANCE_S + TICK_S  # what is stored is rounded
    starts = FilmClock(film).read(passes, "right")
    assert np.abs(starts - log.start_s[passes]).max() <= slack
    ends = FilmClock(film).read(passes + 1, "left")
    assert np.abs(ends - log.end_s[passes]).max() <= slack


def test_the_clock_only_goes_on(case):
    _, film = case
    steps, ticks = np.diff(film.clock_pass), np.diff(film.clock_tick)
    assert min(steps.min(), ticks.min()) >= 0
    assert np.all((steps > 0) | (ticks > 0)), "a corner twice"
    assert film.clock_pass[0] == 0


def test_an_idle_server_stands_still_exactly(case):
    timeline, film = case
    passes = passes_of(timeline)
    log = timeline.pass_log
    gaps = np.flatnonzero(log.start_s[1:passes] - log.end_s[: passes - 1] > 2 * TICK_S) + 1
    corners = list(zip(film.clock_pass.tolist(), film.clock_tick.tolist(), strict=True))
    for q in gaps.tolist():
        for moment in (log.end_s[q - 1], log.start_s[q]):
            assert (q, round(moment / TICK_S)) in corners
    level = np.flatnonzero(np.diff(film.clock_pass) == 0)
    long = np.diff(film.clock_tick)[level] > 2
    assert film.clock_pass[level][long].tolist() == gaps.tolist()


def test_there_is_idling_to_be_seen():
    timeline = run_of("paged", DEFAULTS | {"rate": 1})
    assert np.count_nonzero(np.diff(film_of(timeline).clock_pass) == 0) > 5


def test_the_last_pass_is_exact(case):
    """It is under way when the minute ends, which is what the page shows first."""
    timeline, film = case
    passes = passes_of(timeline)
    moments = (timeline.pass_start_s(passes - 1), timeline.pass_end_s(passes - 1))
    assert film.clock_pass[-2:].tolist() == [passes - 1, passes]
    assert film.clock_tick[-2:].tolist() == [round(moment / TICK_S) for moment in moments]


def test_a_file_gives_back_what_was_put_in():
    axes = {
        "workload": ["sharegpt"],
        "reservation": ["slots", "buddy-pow2"],
        "block_overhead": [0.0, 3.7],
        "block_size": [16, 256],
        "max_length": [1024, 131072],
        "rate": [1, 40],
    }
    films = make_films(axes)
    file = FilmFile(to_bytes(films))
    assert file.axes == axes
    assert file.header["tick_s"] == TICK_S
    assert file.header["duration_s"] == PLATE_DURATION_S
    assert file.header["fingerprint"] == PLANS["sharegpt"].fingerprint()
    numbers = set()
    for settings in positions(axes):
        for kind in KINDS:
            numbers.add(file.number(kind, settings))
            check_same(file.film(kind, settings), newly_cut(kind, settings))
    assert numbers == set(range(len(films.films)))


def positions(axes):
    """All combinations."""
    places = np.indices([len(values) for values in axes.values()]).reshape(len(axes), -1).T
    return [
        {name: axes[name][index] for name, index in zip(axes, place.tolist(), strict=True)}
        for place in places
    ]


def newly_cut(kind, settings):
    """The film of one position, from the simulation."""
    return film_at(allocation_of(kind, settings), lengths_of(settings), settings["rate"])


def test_the_traffic_is_in_the_file():
    file = FilmFile(to_bytes(make_films({**one_position(), "max_length": [1024, 8192]})))
    for row, length in enumerate((1024, 8192)):
        requests = run_of("paged", DEFAULTS | {"max_length": length}).requests
        count = len(requests)
        arrival_s = file.arrays["unit_arrival_s"][:count] / DEFAULTS["rate"]
        np.testing.assert_allclose(arrival_s, requests.arrival_s, rtol=1e-15, atol=0)
        for name in ("prompt_tokens", "output_tokens"):
            np.testing.assert_array_equal(file.arrays[name][row, :count], getattr(requests, name))


def one_position():
    """Axes of the plate's own settings alone."""
    return {name: [value] for name, value in DEFAULTS.items()}


def test_equal_films_are_kept_once():
    """No request of this minute is as long as the shorter of the two."""
    films = make_films({**one_position(), "rate": [1], "max_length": [65536, 131072]})
    numbers = films.numbers["paged"].ravel().tolist()
    assert numbers[0] == numbers[1]
    contents = {tuple(column.tobytes() for column in vars(film).values()) for film in films.films}
    assert len(contents) == len(films.films)


def test_the_same_settings_give_the_same_bytes():
    assert film_bytes(rate=17) == film_bytes(rate=17)
    assert film_bytes(rate=17) != film_bytes(rate=18)


@pytest.fixture(scope="module")
def shipped():
    return FilmFile(FILMS.read_bytes())


def test_the_shipped_films_were_made_by_this_code(shipped):
    assert shipped.header["fingerprint"] == PLANS["exponential"].fingerprint(), STALE
    assert shipped.header["tick_s"] == TICK_S, STALE


def test_the_shipped_films_cover_the_controls(shipped):
    axes = shipped.axes
    for name in ("block_size", "max_length"):
        assert axes[name] == values(name)
    assert len(axes["rate"]) >= 10
    assert set(axes["rate"]) <= set(values("rate"))
    assert axes["rate"] == sorted(axes["rate"])
    assert {values("rate")[0], values("rate")[-1]} <= set(axes["rate"])
    assert all(value in axes[name] for name, value in DEFAULTS.items())


def test_a_sample_of_the_shipped_films(shipped):
    """Another one in each run; with a failure stands the line that repeats it."""
    random = fresh_random()
    for _ in range(SAMPLE):
        settings = {name: random.choice(axis).item() for name, axis in shipped.axes.items()}
        for kind in KINDS:
            print(kind, settings)
            check_same(shipped.film(kind, settings), newly_cut(kind, settings))


def test_the_whole_page_is_small():
    """Uncompressed, as a browser holds it: linked, and with everything inside."""
    results = load_results()
    others = {path for name, path in ATLASES.items() if name != "exponential"}
    files = [path for path in LINKED if path not in others]
    page = linked_page(results, {path: path.name for path in LINKED})
    linked = len(page.encode()) + sum(path.stat().st_size for path in files)
    assert linked < PAGE_BYTES, f"{linked:,} bytes"
    inlined = len(inlined_page(results, Settings()).encode())
    assert inlined < PAGE_BYTES, f"{inlined:,} bytes in one file"
    assert FILMS.stat().st_size < 1_000_000
