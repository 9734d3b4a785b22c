"""Any text at all as the link: the page opens, says what it could not read, and nothing else."""

import json
from unicodedata import category
from urllib.parse import quote, urlencode

import pytest
from hypothesis import strategies as st
from sampling import some

from browser.expected import CONTROLS, check_page
from kvsim_app.settings import values

TRIED = 1000  # links
MOST_NOTICES = 5
UNSEEN = {"Cc", "Cf", "Cs"}  # controls, what turns a text's direction, halves of characters
LONGEST = 400  # characters of a notice
KEYS = [control["key"] for control in CONTROLS.values()]
OFFERED = [f"{value}" for name in CONTROLS for value in values(name)]

ODD = st.one_of(
    st.text(max_size=60),
    st.floats().map(str),
    st.integers().map(str),
    st.sampled_from([*OFFERED, "<img src=x onerror=alert(1)>", "__proto__", "constructor", "1e1"]),
)
PAIRS = st.lists(st.tuples(st.one_of(st.sampled_from(KEYS), ODD), ODD), max_size=12)
LINKS = st.one_of(
    PAIRS.map(lambda pairs: "?" + urlencode([(k, v) for k, v in pairs], errors="replace")),
    st.text(max_size=200).map(lambda text: "?" + text),
    st.binary(max_size=60).map(lambda data: "?rate=" + quote(data)),
)

READ = """
links => {
  const data = JSON.parse(document.getElementById("plate-data").textContent);
  const words = new kvsim.Words(data.words, data.constants);
  const groups = [data.controls, ...Object.values(data.sections)].map((table) => {
    const position = Object.fromEntries(table.map((each) => [each.name, each.default]));
    return { table, plates: { table, position } };
  });
  const link = new kvsim.Link(groups, words, new kvsim.View(groups, words));
  return links.map((search) => {
    try {
      return link.read(search);
    } catch (error) {
      return { threw: String(error) };
    }
  });
}
"""


def test_any_link_is_read(workbench):
    """Each setting it gives is one that is offered; for all else there is a sentence."""
    tried = some(LINKS, TRIED)
    assert len(tried) == TRIED
    for search, read in zip(tried, workbench.evaluate(READ, tried), strict=True):
        note = json.dumps([search, read])
        assert "threw" not in read, note
        for name, index in read["position"].items():
            assert 0 <= index < len(values(name)), note
        assert len(read["notices"]) <= MOST_NOTICES, note
        for notice in read["notices"]:
            assert notice.strip().endswith("."), note
            assert len(notice) < LONGEST, note
            assert not UNSEEN.intersection(map(category, notice)), note


@pytest.mark.parametrize(
    "search",
    [
        "?" + urlencode({"rate": "<img src=x onerror=alert(1)>", "<script>": "</script>"}),
        "?" + "&".join(f"k{number}={'v' * 50}" for number in range(40)),
        "?rate=%ff%fe%00&block=%E0%A4%A",
        "?" + urlencode({"__proto__": "1", "constructor": "2", "rate": "toString"}),
        "?block=\u200b16&rate=\u202e81",
    ],
    ids=["markup", "long", "no text", "names of JavaScript", "invisible"],
)
def test_the_page_opens_with_any_link(visits, search):
    page = visits.open(search)
    assert page.locator("#notice").inner_text().endswith((".", "again."))
    assert page.locator("#notice *").count() == 0
    check_page(page)
