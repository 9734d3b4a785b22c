"""Damaged results in the browser: refused, and never another number than was written."""

import base64
import re

import pytest
from damages import change, damaged, damages
from film_reading import film_bytes
from playwright.sync_api import expect
from sampling import some

from browser.expected import check_page, words_at
from browser.hands import choose
from kvsim_app import words
from kvsim_app.results.files import ATLASES, FILMS, OVERCOMMIT, SHARING

TRIED = 100  # damages of each file

# Opens files that are made from a whole one by replacing some of its bytes, and for each says
# why it cannot be, or whether it has the content of the whole one.
OPEN = """
async ([whole, changes]) => {
  const file = Uint8Array.from(atob(whole), (each) => each.charCodeAt(0));
  const content = async (bytes) => {
    const { header, arrays } = await kvsim.openContainer(bytes);
    return JSON.stringify([header, Object.entries(arrays)
      .map(([name, { shape, values }]) => [name, shape, values.length, Array.from(values)])]);
  };
  const wanted = await content(file);
  const found = [];
  for (const [start, stop, between] of changes) {
    const parts = [file.subarray(0, start), Uint8Array.from(between), file.subarray(stop)];
    const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
    try {
      found.push((await content(bytes)) === wanted ? "the same" : "other numbers");
    } catch (error) {
      found.push(error instanceof Error ? "refused" : `threw ${error}`);
    }
  }
  return found;
}
"""


@pytest.mark.parametrize(
    "path",
    [*ATLASES.values(), FILMS, OVERCOMMIT, SHARING, None],
    ids=lambda path: path and path.name,
)
def test_no_damage_gives_a_wrong_number(workbench, path):
    """Of each that the page fetches, and of a film as a server makes it."""
    whole = path.read_bytes() if path else film_bytes(rate=17)
    tried = some(damages(len(whole)), TRIED)
    changes = [
        [start, stop, list(between)]
        for start, stop, between in (change(whole, each) for each in tried)
    ]
    encoded = base64.b64encode(whole).decode()
    for each, found in zip(tried, workbench.evaluate(OPEN, [encoded, changes]), strict=True):
        wanted = {"the same"} if damaged(whole, each) == whole else {"refused", "the same"}
        assert found in wanted, each


def test_a_damaged_atlas_is_said(visits):
    page = visits.open(ready=False)
    whole = ATLASES["exponential"].read_bytes()
    page.context.route("**/atlas-exponential.bin", lambda route: route.fulfill(body=whole[:-9]))
    page.goto(visits.plate)
    before, after = words.fill("atlas_failed", reason="|").split("|")
    expect(page.locator("#notice")).to_have_text(
        re.compile(re.escape(before) + ".+" + re.escape(after))
    )
    # What was rendered is right, and stays.
    assert page.evaluate("wanted => looking.wrongWords(wanted)", words_at()) == []


def test_a_damaged_atlas_of_another_workload_is_said_and_the_first_stays(visits):
    page = visits.open(ready=False)
    whole = bytearray(ATLASES["sharegpt"].read_bytes())
    whole[len(whole) // 2] ^= 1
    page.context.route("**/atlas-sharegpt.bin", lambda route: route.fulfill(body=bytes(whole)))
    visits.go(page)
    choose(page, "workload", "sharegpt")
    before, after = words.fill("workload_failed", reason="|").split("|")
    expect(page.locator("#notice")).to_have_text(
        re.compile(re.escape(before) + ".+" + re.escape(after))
    )
    check_page(page)
