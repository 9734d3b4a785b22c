"""README's proxy: what its configuration says about kvsim is so.

What nginx does with it is not tested here: few machines have one.
"""

import re
import shlex
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from readers import linked
from serving import serving

from kvsim_app.__main__ import main

README = (Path(__file__).resolve().parents[1] / "README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def configuration():
    """README's configuration: its directives with the blocks they stand in, outermost first."""
    (text,) = re.findall(r"```nginx\n(.*?)```", README, re.S)
    found, blocks = [], []
    for statement, end in re.findall(r"([^;{}]*)([;{}])", re.sub(r"#.*", "", text)):
        words = shlex.split(statement)
        if end == "}":
            assert not words, "a directive that no semicolon ends"
            blocks.pop()
        else:
            assert words
            found.append((tuple(blocks), words))
            if end == "{":
                blocks.append(" ".join(words))
    assert blocks == [], "never closed"
    return found


@pytest.fixture(scope="module")
def command():
    """The arguments of README's command for that server."""
    (line,) = re.findall(r"^\.venv/bin/kvsim (serve .*--allow-origin.*)$", README, re.M)
    return shlex.split(line)


def values(configuration, name, block=""):
    """The arguments of a directive, wherever it stands below a block."""
    return [
        words[1:]
        for blocks, words in configuration
        if words[0] == name and any(each.startswith(block) for each in ("", *blocks))
    ]


def test_the_command_is_one(command, monkeypatch):
    given = {}
    monkeypatch.setattr("kvsim_app.__main__._serve", lambda *values: given.update(got=values) or 0)
    assert main(command) == 0
    port, address, origins, _, processes = given["got"]
    assert (port, address) == (5006, "localhost")
    assert origins == ["plate.example.org"]
    assert processes > 1


def test_it_leads_to_where_kvsim_listens(configuration, command):
    assert {tuple(each) for each in values(configuration, "proxy_pass")} == {
        ("http://127.0.0.1:5006",)
    }
    assert "--port" not in command


def test_its_host_may_open_sessions(configuration, command):
    (name,) = values(configuration, "server_name")
    assert name == [command[command.index("--allow-origin") + 1]]
    assert ["Host", "$host"] in values(configuration, "proxy_set_header", "location /panel/ws")


def test_it_hands_on_what_a_websocket_needs(configuration):
    handed = values(configuration, "proxy_set_header", "location /panel/ws")
    assert ["Upgrade", "$http_upgrade"] in handed
    assert ["Connection", "upgrade"] in handed
    assert values(configuration, "proxy_http_version") == [["1.1"]]


def test_it_compresses_what_kvsim_does_not(configuration):
    """The page's own files come compressed; those of Panel's page do not, and have these types."""
    (types,) = values(configuration, "gzip_types")
    with serving() as served:
        html = urlopen(served.url).read().decode()
        for path in ("/", *linked(html)):
            assert read(served.url, path).headers["Content-Encoding"] == "gzip", path
        panel = urlopen(f"{served.url}panel").read().decode()
        sources = re.findall(r'(?:src|href)="(static/[^"]+\.(?:js|css)[^"]*)"', panel)
        assert len(sources) > 3
        for source in sources:
            response = read(served.url, f"/{source}")
            assert "Content-Encoding" not in response.headers, source
            assert response.headers.get_content_type() in types, source


def read(url, path):
    """The answer to a browser, which takes compressed files."""
    host = urlsplit(url).netloc
    return urlopen(Request(f"http://{host}{path}", headers={"Accept-Encoding": "gzip"}))


def test_it_keeps_what_kvsim_lets_be_kept(configuration):
    """And no more: nothing there overrides what the answers say about how long they last."""
    (zone,) = values(configuration, "proxy_cache_path")
    ((name,),) = values(configuration, "proxy_cache")
    assert any(each.startswith(f"keys_zone={name}:") for each in zone)
    for directive in ("proxy_ignore_headers", "proxy_cache_valid"):
        assert values(configuration, directive) == []
