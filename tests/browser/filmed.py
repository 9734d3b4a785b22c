"""What Python says that the film should show, and a reader's way to the moments of it."""

from functools import cache, cached_property

import numpy as np
from film_reading import DEFAULTS, KINDS, FilmClock, passes_of, run_of

from kvsim import Placement, account
from kvsim_app import words
from kvsim_app.allocations import SERVER
from kvsim_app.results.films import TICK_S, film_of

LINE_PX, GAP_PX = 9, 2  # the drawing's
EDGE_PX, LEAST_BLOCK_PX = 2, 24  # and where blocks are told apart
END_S = 60


class Filmed:
    """One cache through the first minute, from the simulation."""

    def __init__(self, kind, settings):
        self.kind = kind
        self.timeline = run_of(kind, settings)
        self.clock = FilmClock(film_of(self.timeline))
        self.passes = passes_of(self.timeline)

    @cached_property
    def placement(self):
        """Where everything lies."""
        return Placement(self.timeline)

    @cached_property
    def use(self):
        """What every token is used for, in each pass, by name."""
        return account(self.placement).parts()

    @cached_property
    def events(self):
        """Passes of the film in which somebody enters or has left."""
        stays = self.timeline.stays
        passes = np.unique([*stays.first_pass, *(stays.last_pass + 1)])
        return passes[passes < self.passes]

    def places(self, time_s):
        """The places of all running requests, oldest admission first."""
        q = self.clock.pass_at(time_s)
        return [] if q is None else self.placement.at(q)

    def place(self, time_s, request):
        """The place of one request; None if it is not running."""
        return next((each for each in self.places(time_s) if each.request == request), None)

    def running(self, time_s):
        """How many run."""
        return len(self.places(time_s))

    def waiting(self, time_s):
        """How many wait."""
        q = self.clock.pass_at(time_s)
        return 0 if q is None else self.timeline.waiting_at(self.timeline.pass_start_s(q))

    def shares(self, time_s):
        """Each part of the cache that is not empty, as a share of it, in the order of the bar."""
        q = self.clock.pass_at(time_s)
        parts = {name: int(tokens[q]) / SERVER.capacity_tokens for name, tokens in self.use.items()}
        return [share for name, share in parts.items() if share or name == "token_states"]

    def spans(self, time_s, request):
        """The token positions that hold a request's tokens: pairs of a start and a stop."""
        place = self.place(time_s, request)
        size = self.timeline.allocation.unit_tokens
        if self.kind == "contiguous":
            return [(place.units[0] * size, place.units[0] * size + place.cached_tokens)]
        return [
            (unit * size, unit * size + min(size, place.cached_tokens - index * size))
            for index, unit in enumerate(place.units)
        ]


@cache
def filmed(kind, **given):
    """The cache at some settings, defaults elsewhere; simulated once."""
    return Filmed(kind, DEFAULTS | given)


def both(**given):
    """Both caches, by kind."""
    return {kind: filmed(kind, **given) for kind in KINDS}


def next_time(caches, time_s):
    """The next time that somebody enters or has left either cache, by the film's clock."""
    later = [END_S]
    for each in caches.values():
        times = each.clock.read(each.events, "right")
        later += (times[times > time_s + TICK_S][:1] + TICK_S).tolist()
    return min(later)


def open_film(visits, address="", **options):
    """The page with its films loaded."""
    page = visits.open(address, **options)
    wait_for_films(page)
    return page


def read_film(read, address=""):
    """The same in the page that a module's tests share; ``read`` is the fixture."""
    page = read(address)
    wait_for_films(page)
    return page


def wait_for_films(page):
    """Wait until the page has its films, or has given them up, and shows a moment of them."""
    page.wait_for_selector("html[data-films]", state="attached")
    page.wait_for_function("() => document.getElementById('counts-paged').textContent !== ''")


def stop_time(page, visits, address=""):
    """Load the page, and stop its time: frames and timers wait for ``page.clock.run_for``."""
    page.clock.install()
    visits.go(page, address)
    wait_for_films(page)
    page.locator("#cache-figure").scroll_into_view_if_needed()
    wait_for_observers(page)
    page.clock.pause_at(page.evaluate("Date.now() + 1000"))


def wait_for_observers(page):
    """Wait until the page knows whether the caches are on the screen."""
    page.evaluate(
        """() => new Promise((known) =>
          new IntersectionObserver(known).observe(document.getElementById("cache-figure")))"""
    )


def go_to(page, time_s):
    """Scrub to a tenth of a second, as a screen reader's user would."""
    page.locator("#clock").fill(str(round(10 * time_s)))


def counts_text(cache, time_s):
    """The words beside a cache's name."""
    return words.fill(
        "counts",
        running=words.count(cache.running(time_s)),
        waiting=words.count(cache.waiting(time_s)),
    )


def unanswered(note, **fields):
    """What is said where a film cannot be had because the server is gone."""
    return f"{words.fill(note, **fields)} {words.fill('film_retried')}"


def shown_counts(page):
    """These words as they are shown."""
    return {kind: page.inner_text(f"#counts-{kind}") for kind in KINDS}


def wait_for_counts(page, caches, time_s):
    """Wait until both caches say who runs and who waits at a time."""
    wanted = {kind: counts_text(each, time_s) for kind, each in caches.items()}
    page.wait_for_function(
        """wanted => Object.entries(wanted).every(
          ([kind, text]) => document.getElementById(`counts-${kind}`).textContent === text)""",
        arg=wanted,
    )


def geometry(page, kind):
    """Columns, lines and line height of a drawing, in its own pixels, and its scale."""
    width, height, scale = page.evaluate(
        """id => {
          const canvas = document.getElementById(id);
          return [canvas.width, canvas.height, devicePixelRatio];
        }""",
        f"cache-{kind}",
    )
    line = round(LINE_PX * scale)
    return width, height // (line + round(GAP_PX * scale)), line, scale


def place_of(page, kind, token):
    """Where a token position is drawn, in the coordinates of the mouse."""
    columns, lines, line, scale = geometry(page, kind)
    pixel = int((token + 0.5) * columns * line * lines / SERVER.capacity_tokens)
    row, within = divmod(pixel, columns * line)
    x, down = divmod(within, line)
    box = page.locator(f"#cache-{kind}").bounding_box()
    pitch = line + round(GAP_PX * scale)
    return box["x"] + (x + 0.5) / scale, box["y"] + (row * pitch + down + 0.5) / scale
