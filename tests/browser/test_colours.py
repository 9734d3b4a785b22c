"""Light and dark: by the reader's preference, or as data-theme says."""

import pytest

PAGE_COLOURS = """() => {
  const style = getComputedStyle(document.documentElement);
  return [style.backgroundColor, style.color];
}"""
GLYPH_COLOURS = """() => [...Bokeh.index]
  .flatMap((view) => view.model.renderers ?? [])
  .map(({ glyph }) =>
    ["fill_color", "line_color", "text_color"]
      .filter((name) => glyph[name])
      .map((name) => glyph[name].value))"""
DRAWN = ("capacity-chart", "ttft-chart", "cache-contiguous", "cache-paged")
# Tick labels are painted by Bokeh itself, and alone left of the right chart's frame.
TICK_LABELS = """() => {
  const view = [...Bokeh.index].find((each) => each.model.name === "ttft");
  const pixels = looking.pixels("ttft-chart");
  const scale = looking.canvases("ttft-chart")[0].width / view.el.getBoundingClientRect().width;
  const width = looking.canvases("ttft-chart")[0].width;
  const frame = Math.floor(view.frame.bbox.left * scale) - 6;
  let sum = 0, count = 0;
  pixels.forEach((pixel, index) => {
    if (index % width >= frame || pixel >>> 24 < 200) return;
    sum += (pixel & 255) / 255;
    count++;
  });
  return count ? sum / count : NaN;
}"""


def brightness(rgb):
    return sum(int(part) for part in rgb[4:-1].split(",")) / 765


def looks(page):
    """All colours of a page, once everything has been painted in them."""
    return page.evaluate(PAGE_COLOURS), page.evaluate(GLYPH_COLOURS)


def wait_until_tick_labels_are(page, bright):
    page.wait_for_function(
        f"bright => bright ? ({TICK_LABELS})() > 0.6 : ({TICK_LABELS})() < 0.4", arg=bright
    )


def test_by_day_paper_is_light_and_ink_dark(page):
    (background, ink), _ = looks(page)
    assert brightness(background) > 0.85
    assert brightness(ink) < 0.2
    wait_until_tick_labels_are(page, bright=False)


def test_at_night_paper_is_dark_and_ink_light(visits, page):
    night = visits.open(color_scheme="dark")
    (background, ink), glyphs = looks(night)
    assert brightness(background) < 0.15
    assert brightness(ink) > 0.8
    wait_until_tick_labels_are(night, bright=True)
    for by_day, at_night in zip(looks(page)[1], glyphs, strict=True):
        assert by_day != at_night
    for element in DRAWN:
        painted = "id => looking.picture(id)"
        assert page.evaluate(painted, element) != night.evaluate(painted, element)


@pytest.mark.parametrize(("preferred", "asked"), [("light", "dark"), ("dark", "light")])
def test_data_theme_overrides_the_preference(visits, preferred, asked):
    page = visits.open(color_scheme=preferred)
    wanted = looks(visits.open(color_scheme=asked))
    assert looks(page) != wanted
    page.evaluate("asked => (document.documentElement.dataset.theme = asked)", asked)
    wait_until_tick_labels_are(page, bright=asked == "dark")
    assert looks(page) == wanted


def test_a_preference_that_changes_is_followed(visits, page):
    by_day = looks(page)
    page.emulate_media(color_scheme="dark")
    wait_until_tick_labels_are(page, bright=True)
    assert looks(page) == looks(visits.open(color_scheme="dark"))
    page.emulate_media(color_scheme="light")
    wait_until_tick_labels_are(page, bright=False)
    assert looks(page) == by_day


def test_on_paper_night_is_day(visits):
    page = visits.open(color_scheme="dark")
    page.emulate_media(media="print")
    wait_until_tick_labels_are(page, bright=False)
    day = visits.open()
    day.emulate_media(media="print")
    wait_until_tick_labels_are(day, bright=False)
    assert looks(page) == looks(day)
