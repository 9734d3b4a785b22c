"""Whatever is asked of the server: a sentence, no traceback, and it goes on answering."""

import socket
from urllib.parse import quote, quote_from_bytes, urlencode, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from serving import serving
from test_serve import ask

from kvsim_app.serve import MOST_BODY_BYTES
from kvsim_app.settings import choices

TRIED = 200  # requests of each kind
SENTENCE_CHARACTERS = 250
# Panel's and Bokeh's own, which have answers of their own.
OTHERS = ("/panel", "/static", "/favicon.ico")


@pytest.fixture(scope="module")
def host():
    with serving(clean=False) as served:
        yield urlsplit(served.url).netloc
        assert "Traceback" not in served.log
        assert served.process.poll() is None


def check_sentence(response):
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    sentence = response.body.decode()
    assert sentence.count("\n") == 1
    assert sentence.endswith(".\n")
    assert len(sentence) < SENTENCE_CHARACTERS


KEYS = [choice.key for _, choice in choices()]
# Values are wrong, but for those of the plate's own settings: a film takes a while.
VALUES = st.one_of(
    st.sampled_from([choice.spell(choice.default) for _, choice in choices()]), st.text()
)


@settings(max_examples=TRIED)
@given(
    st.lists(st.tuples(st.one_of(st.sampled_from(KEYS), st.text(max_size=50)), VALUES), max_size=8)
)
def test_any_query_for_a_film(host, query):
    query = [
        (key.encode(errors="surrogatepass"), value.encode(errors="surrogatepass"))
        for key, value in query
    ]
    response = ask(host, f"/film?{urlencode(query)}")
    if response.status != 200:
        assert response.status == 400
        check_sentence(response)


@settings(max_examples=TRIED)
@given(
    st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#"), max_size=60)
)
@example("&&&===;;;")
@example("rate=%")
@example("rate=%zz")
@example("rate[]=1&rate[0]=2")
@example("%00=%00")
@example("=" * 5000)
def test_any_text_as_a_query(host, text):
    response = ask(host, f"/film?{text}")
    if response.status != 200:
        assert response.status == 400
        check_sentence(response)
    assert ask(host, f"/?{text}").status == 200, "the page reads its settings itself"


@settings(max_examples=TRIED)
@given(
    st.one_of(
        st.text(max_size=40).map(
            lambda text: quote(text.encode(errors="surrogatepass"), safe="/.")
        ),
        st.binary(max_size=40).map(quote_from_bytes),
        st.lists(st.sampled_from(["assets", "..", ".", "", "%2e%2e", "film", "0", "page.css"])).map(
            "/".join
        ),
    )
)
@example("etc/passwd")
@example("../../etc/passwd")
@example("a" * 20_000)
def test_any_path(host, path):
    response = ask(host, f"/{path}")
    if response.status == 404:
        if not f"/{path}".startswith(OTHERS):
            check_sentence(response)
    else:
        assert path.strip("/") in ("", "film") or f"/{path}".startswith(OTHERS)


@settings(max_examples=TRIED)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(max_size=100).map(lambda text: text.encode(errors="replace")),
    )
)
@example(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
@example(b"GET / HTTP/9.9\r\n\r\n")
@example(b"GET /film?rate=\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n")
@example(b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n")
@example(b"GET / HTTP/1.1\r\nIf-None-Match: \xff\xff\r\nHost: x\r\n\r\n")
@example(b"GET / HTTP/1.1\r\nAccept-Encoding: " + b"g" * 60_000 + b"\r\n\r\n")
@example(b"POST /film HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nrate=")
def test_any_bytes_at_all(host, data):
    """It answers or hangs up, and then answers others."""
    name, port = host.split(":")
    with socket.create_connection((name, int(port)), timeout=30) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while more := connection.recv(65536):
            answer += more
    assert not answer or answer.startswith(b"HTTP/1.1 ")
    assert not answer.startswith(b"HTTP/1.1 5")
    assert ask(host, method="HEAD").status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "BREW"])
@pytest.mark.parametrize("path", ["/", "/film", "/assets/x", "/nothing"])
def test_other_methods(host, method, path):
    response = ask(host, path, method=method)
    assert response.status == (404 if path == "/nothing" and method != "BREW" else 405)
    check_sentence(response)


@pytest.mark.parametrize("path", ["/", "/film", "/assets/x", "/nothing", "/panel", "/static/x"])
def test_nobody_fills_the_memory(host, path):
    """A body that is large, or may become so, is not received."""
    for framing, start in (
        (f"Content-Length: {MOST_BODY_BYTES + 1}", b""),
        ("Transfer-Encoding: chunked", f"{MOST_BODY_BYTES + 1:x}\r\n".encode()),
    ):
        name, port = host.split(":")
        with socket.create_connection((name, int(port)), timeout=30) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\n{framing}\r\n\r\n"
            connection.sendall(head.encode() + start)
            assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")
            assert connection.recv(65536) == b""
    assert ask(host, method="HEAD").status == 200
