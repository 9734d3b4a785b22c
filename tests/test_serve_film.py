"""The server's films: of any settings, the same as Python's, and refused with a sentence."""

import re
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode, urlsplit

import pytest
from film_reading import DEFAULTS, KINDS, FilmFile, check_same, film_bytes, random_settings, run_of
from sampling import fresh_random
from serving import serving
from test_serve import ask

from kvsim_app.results.films import film_of
from kvsim_app.settings import choices, values

KEYS = {name: choice.key for name, choice in choices()}


@pytest.fixture(scope="module")
def host():
    with serving() as served:
        yield urlsplit(served.url).netloc


def address(settings):
    """Where the film of some settings is, written as the page writes it."""
    query = {choice.key: choice.spell(settings[name]) for name, choice in choices()}
    return f"/film?{urlencode(query)}"


def test_any_settings_have_their_film(host):
    random = fresh_random()
    for _ in range(4):
        settings = random_settings(random)
        print(settings)
        response = ask(host, address(settings))
        assert response.status == 200
        assert response.body == film_bytes(**settings)
        file = FilmFile(response.body)
        for kind in KINDS:
            check_same(file.film(kind, settings), film_of(run_of(kind, settings)))


def test_what_the_page_does_not_keep_is_made(host):
    """An odd rate, and a server that is charged for fetching blocks."""
    for given in ({"rate": 17}, {"block_overhead": 3.7}):
        response = ask(host, address(DEFAULTS | given))
        assert FilmFile(response.body).axes == {
            name: [value] for name, value in (DEFAULTS | given).items()
        }


def test_what_is_left_out_stands_at_its_default(host):
    assert ask(host, "/film").body == film_bytes()
    assert ask(host, "/film?rate=17").body == film_bytes(rate=17)


def test_it_is_sent_as_bytes_that_may_be_kept(host):
    response = ask(host, "/film")
    assert response.headers["Content-Type"] == "application/octet-stream"
    kept = re.fullmatch(r"max-age=(\d+)", response.headers["Cache-Control"])
    assert int(kept[1]) >= 60


def test_a_reader_who_has_it_gets_nothing_again(host):
    tag = ask(host, "/film").headers["Etag"]
    again = ask(host, "/film", If_None_Match=tag)
    assert again.status == 304
    assert again.body == b""


def test_many_at_once_get_their_own(host):
    """More than there are threads; each answer is that of its own settings."""
    rates = [3, 17, 29, 39]
    wanted = {rate: film_bytes(rate=rate) for rate in rates}
    with ThreadPoolExecutor(24) as readers:
        asked = rates * 12
        answers = list(readers.map(lambda rate: ask(host, f"/film?rate={rate}"), asked))
    assert {answer.status for answer in answers} == {200}
    for rate, answer in zip(asked, answers, strict=True):
        assert answer.body == wanted[rate], rate


def test_the_page_is_sent_while_films_are_made(host):
    """Making one takes no turn of the server's own."""
    settings = [DEFAULTS | {"block_size": 1, "rate": rate} for rate in (31, 33, 35, 37)]
    with ThreadPoolExecutor(5) as readers:
        films = [readers.submit(ask, host, address(each)) for each in settings]
        assert ask(host).status == 200
        assert [film.result().status for film in films] == [200] * 4


@pytest.fixture(scope="module")
def wary():
    """A server that is asked for what it does not have, and may log that."""
    with serving(clean=False) as served:
        yield urlsplit(served.url).netloc
        assert "Traceback" not in served.log


ALLOWED = {
    "block": ("1, 2, 4, 8, 16, 32, 64, 128 or 256", "block_size"),
    "maxlen": ("1024, 2048, 4096, 8192, 16384, 32768, 65536 or 131072", "max_length"),
    "rate": ("1 to 40", "rate"),
    "overhead": ("0 or 3.7", "block_overhead"),
    "work": ("exponential, sharegpt, azure-conversation or azure-code", "workload"),
    "reserve": ("slots, buddy-max, buddy-pow2", "reservation"),
}
BAD = {
    "block": ["0", "3", "512", "-1", "x", "1.5", "[16]", "{16}"],
    "maxlen": ["1000", "1023", "262144", "1e3", "NaN"],
    "rate": ["0", "41", "2.5", "-5", "inf", "nan", "0x10", "<b>7</b>", "9" * 400, "\u0667"],
    "overhead": ["1", "3.70001", "-0", "true"],
    "work": ["", "ShareGPT", "azure", "0"],
    "reserve": ["slot", "buddy", "1"],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key in BAD for value in BAD[key]])
def test_a_bad_value_is_named_with_what_is_allowed(wary, key, value):
    response = ask(wary, f"/film?{urlencode({key: value})}")
    assert response.status == 400
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    sentence = response.body.decode()
    assert sentence.count("\n") == 1
    assert sentence.endswith(".\n")
    assert key in sentence
    assert value[:40] in sentence
    assert ALLOWED[key][0] in sentence
    assert len(sentence) < 250


def test_every_key_is_tried():
    assert set(BAD) == set(KEYS.values())
    for allowed, name in ALLOWED.values():
        assert str(values(name)[0]) in allowed or f"{values(name)[0]:g}" in allowed


@pytest.mark.parametrize("query", ["rate=", "rate=%ff", "rate=%00", "block=%0a"])
def test_what_is_no_text_is_refused_too(wary, query):
    response = ask(wary, f"/film?{query}")
    assert response.status == 400
    assert response.body.decode().count("\n") == 1


def test_an_unknown_key_is_named(wary):
    response = ask(wary, "/film?colour=red")
    assert response.status == 400
    assert "colour" in response.body.decode()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_sent_to_it(wary, method):
    assert ask(wary, "/film", method=method).status == 405
