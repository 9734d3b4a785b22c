"""The served page over HTTP: what is sent, compressed, cached, and refused."""

import gzip
import http.client
import json
import os
import re
import struct
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from made_up_language import NAME, made_up_language
from page_text import Page
from serving import SERVE, serving

from kvsim_app import serve
from kvsim_app.assets import PICTURES, linked_policy
from kvsim_app.languages import PLATES_OWN
from kvsim_app.page import CARD
from kvsim_app.results.files import ATLASES, FILMS, OVERCOMMIT, SHARING


@pytest.fixture(scope="module")
def host():
    """Host and port of a server whose log stays clean."""
    with serving() as served:
        yield urlsplit(served.url).netloc


def ask(host, path="/", method="GET", **headers):
    """The response to one request, with its body read."""
    with closing(http.client.HTTPConnection(host)) as connection:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=names)
        response = connection.getresponse()
        response.body = response.read()
        return response


@pytest.fixture(scope="module")
def assets(host):
    """The addresses of everything that the page brings along."""
    page = Page(ask(host).body.decode())
    found = [element["src"] for element in page.all("script", src=...)]
    found += [element["href"] for element in page.all("link", href=...)]
    files = json.loads(page.one("script", id="plate-data").text)["files"]
    found += [*files["atlases"].values(), files["films"], files["overcommit"], files["sharing"]]
    return [f"/{address}" for address in dict.fromkeys(found) if not address.startswith("data:")]


def test_the_page_is_html_and_may_change(host):
    response = ask(host)
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["Cache-Control"] == "no-cache"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.body.lstrip().lower().startswith(b"<!doctype html>")


def test_the_teachers_page_is_beside_it(host):
    response = ask(host, "/teacher")
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    page = Page(response.body.decode())
    assert page.all("script") == []
    for element in page.all("link", rel="stylesheet"):
        assert ask(host, f"/{element['href']}").status == 200


def test_a_further_language_has_addresses_of_its_own(monkeypatch, tmp_path):
    language = made_up_language(tmp_path)
    monkeypatch.setattr(serve, "language_names", lambda: ["en", NAME])
    monkeypatch.setattr(
        serve, "load_language", lambda name: language if name == NAME else PLATES_OWN
    )
    assets = serve.prepare()
    pages = {
        path: Page(asset.body.decode()) for path, asset in assets.items() if "assets/" not in path
    }
    assert pages.keys() == {"", "teacher", NAME, f"{NAME}-teacher"}
    for path, page in pages.items():
        assert page.one("html")["lang"] == (NAME if NAME in path else "en-GB")
    for own, teacher in (("", "teacher"), (NAME, f"{NAME}-teacher")):
        assert pages[own].one("a", id="to-teacher")["href"] == teacher
        links = [link["href"] for link in pages[teacher].all("a", data_settings=...)]
        assert all(link.startswith(f"{own or './'}?") for link in links)


def test_the_page_and_nothing_else_is_sent_with_its_policy(host, assets):
    assert ask(host).headers["Content-Security-Policy"] == linked_policy()
    for address in (*assets, "/film", "/panel"):
        assert "Content-Security-Policy" not in ask(host, address).headers, address


def test_nothing_is_taken_for_something_else(host, assets):
    for address in (*assets, "/", "/teacher", "/film", "/assets/picture.png"):
        assert ask(host, address).headers["X-Content-Type-Options"] == "nosniff", address


def test_no_header_keeps_it_out_of_frames(host):
    assert "X-Frame-Options" not in ask(host).headers
    assert "Cross-Origin-Resource-Policy" not in ask(host).headers


@pytest.mark.parametrize(("path", "width"), [(PICTURES[0], CARD["width"]), (PICTURES[1], 1920)])
def test_pictures_have_lasting_addresses(host, path, width):
    response = ask(host, f"/assets/{path.name}")
    assert response.headers["Content-Type"] == "image/png"
    assert response.headers["Cache-Control"] == "no-cache"
    assert response.body == path.read_bytes()
    assert struct.unpack(">I", response.body[16:20]) == (width,)


def test_a_link_to_it_brings_a_picture_where_its_address_is_known():
    """Another site reads absolute addresses only."""
    public = "https://plates.example/cache/"
    with serving((*SERVE, "--public-url", public.rstrip("/"))) as served:
        netloc = urlsplit(served.url).netloc
        page = Page(ask(netloc).body.decode())
        said = {meta["property"]: meta["content"] for meta in page.all("meta", property=...)}
        assert page.one("link", rel="canonical")["href"] == said["og:url"] == public
        picture = ask(netloc, f"/{said['og:image'].removeprefix(public)}")
        assert picture.headers["Content-Type"] == "image/png"
        size = struct.unpack(">II", picture.body[16:24])
        assert size == (int(said["og:image:width"]), int(said["og:image:height"]))
        assert page.one("meta", name="twitter:card")["content"] == "summary_large_image"


def test_a_link_to_it_has_words_where_its_address_is_not_known(host):
    page = Page(ask(host).body.decode())
    said = {meta["property"]: meta["content"] for meta in page.all("meta", property=...)}
    assert said["og:title"] == page.one("h1").text
    assert said["og:description"] == page.one("meta", name="description")["content"]
    assert "og:image" not in said
    assert page.all("link", rel="canonical") == []


def test_settings_in_the_address_are_the_scripts_business(host):
    assert ask(host, "/?rate=30&block=nonsense").body == ask(host).body


def test_everything_that_the_page_asks_for_is_there(host, assets):
    kinds = {
        ".js": ("text/javascript; charset=utf-8", "application/javascript"),
        ".css": ("text/css; charset=utf-8",),
        ".bin": ("application/octet-stream",),
    }
    assert len(assets) > 5
    for path in (*ATLASES.values(), FILMS, OVERCOMMIT, SHARING):
        assert any(address.endswith(f"/{path.name}") for address in assets)
    for address in assets:
        response = ask(host, address)
        assert response.status == 200, address
        suffix = address[address.rindex(".") :]
        assert response.headers["Content-Type"] in kinds[suffix], address
        assert response.headers["Cache-Control"] == "max-age=31536000, immutable"
        # For pages in frames without an origin.
        assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_what_is_sent_compressed_is_the_same(host, assets):
    for address in ("/", *assets):
        plain = ask(host, address)
        zipped = ask(host, address, Accept_Encoding="gzip, deflate")
        assert "Content-Encoding" not in plain.headers
        assert zipped.headers["Content-Encoding"] == "gzip"
        assert zipped.headers["Vary"] == "Accept-Encoding"
        assert gzip.decompress(zipped.body) == plain.body
        assert int(zipped.headers["Content-Length"]) == len(zipped.body)


def test_the_page_is_small(host, assets):
    """Until the workshop answers: without films and sections' results, and with one atlas."""
    later = {path.name for path in (*ATLASES.values(), FILMS, OVERCOMMIT, SHARING)}
    later -= {"atlas-exponential.bin"}
    first = [each for each in assets if each.rsplit("/")[-1] not in later]
    assert len(assets) - len(first) == len(later)
    sizes = {each: len(ask(host, each, Accept_Encoding="gzip").body) for each in ("/", *assets)}
    assert sum(sizes[address] for address in ("/", *first)) < 1_000_000
    assert max(sizes.values()) < 1_000_000


@pytest.mark.parametrize(
    "path", [*ATLASES.values(), FILMS, OVERCOMMIT, SHARING], ids=lambda path: path.name
)
def test_results_are_sent_as_they_are(host, assets, path):
    (address,) = [each for each in assets if each.endswith(f"/{path.name}")]
    assert ask(host, address).body == path.read_bytes()


def test_a_reader_who_has_it_gets_nothing_again(host, assets):
    for address in ("/", *assets):
        tag = ask(host, address).headers["Etag"]
        again = ask(host, address, If_None_Match=tag)
        assert again.status == 304
        assert again.body == b""
        assert ask(host, address, If_None_Match='"of something else"').status == 200


def test_head_sends_the_headers_alone(host):
    head, get = ask(host, method="HEAD"), ask(host)
    assert head.status == 200
    assert head.body == b""
    for name in ("Content-Type", "Content-Length", "Etag"):
        assert head.headers[name] == get.headers[name]


def test_addresses_are_relative_so_that_a_proxy_can_put_the_page_anywhere(host):
    page = Page(ask(host).body.decode())
    for element in (*page.all("script", src=...), *page.all("link", href=...)):
        address = element.attributes.get("src") or element["href"]
        assert not address.startswith(("/", "http")), address


def test_the_panel_component_is_served_too(host):
    response = ask(host, "/panel")
    assert response.status == 200
    assert b"<!doctype html>" in response.body.lower()


@pytest.mark.parametrize("allowed", [False, True])
def test_sessions_are_opened_from_hosts_that_were_named(allowed):
    """Another page may hold the component only if its host was given."""
    command = (*SERVE, "--allow-origin", "lesson.example") if allowed else SERVE
    with serving(command, clean=False) as served:
        host = urlsplit(served.url).netloc
        token = re.search(rb'"token":"([^"]+)"', ask(host, "/panel").body)[1].decode()
        for origin, wanted in (
            (f"http://{host}", 101),
            (f"http://127.0.0.1:{host.rpartition(':')[2]}", 101),
            ("http://localhost:1", 403),
            ("http://lesson.example", 101 if allowed else 403),
            ("http://elsewhere.example", 403),
        ):
            response = ask(
                host,
                "/panel/ws",
                Origin=origin,
                Connection="Upgrade",
                Upgrade="websocket",
                Sec_WebSocket_Version="13",
                Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
                Sec_WebSocket_Protocol=f"bokeh, {token}",
            )
            assert response.status == wanted, origin


def test_no_address_has_a_module_imported(tmp_path):
    mark = tmp_path / "imported"
    (tmp_path / "trap.py").write_text(f"open({str(mark)!r}, 'w')\n")
    paths = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    with serving(clean=False, environment={"PYTHONPATH": paths}) as served:
        for path in ("/components/trap/a/b/c", "/panel/components/trap/a/b/c"):
            assert ask(urlsplit(served.url).netloc, path).status == 404
        assert not mark.exists()


@pytest.fixture(scope="module")
def wary():
    """A server that is asked for what it does not have, and may log that."""
    with serving(clean=False) as served:
        yield urlsplit(served.url).netloc
        assert "Traceback" not in served.log


@pytest.mark.parametrize(
    "path", ["/assets/", "/assets/0/page.css", "/assets/../../etc/passwd", "/assets/%2e%2e/x"]
)
def test_what_is_not_there_is_said_in_a_sentence(wary, path):
    response = ask(wary, path)
    assert response.status == 404
    assert response.headers["Content-Type"].startswith("text/plain")
    assert response.body.decode().strip().endswith(".")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_sent_to_it(wary, method):
    assert ask(wary, method=method).status == 405
