"""The parts of the page that a link can show alone; static/view.js finds the same."""

from html.parser import HTMLParser

_VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


def parts_of(page: str) -> list[str]:
    """Return the names of a page's parts, in order.

    Whatever stands in its main element with an id is a part, by that, and so is what bears a name
    of its own (``data-part``) within.
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.parts


def headings_of(sections: str) -> list[tuple[str, str]]:
    """Return the id and the heading (``h2``) of each section, in order, that has an id of its own.

    Sections without one, such as the essay's, belong to what stands before them.
    """
    reader = _Headings()
    reader.feed(sections)
    reader.close()
    return [(section, " ".join(text.split())) for section, text in reader.headings.items()]


class _Headings(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.headings: dict[str, str] = {}
        self._section: str | None = None
        self._within = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self._section = dict(attrs).get("id")
        self._within = tag == "h2" or (self._within and tag == "span")

    def handle_data(self, data: str) -> None:
        if self._within and self._section:
            self.headings[self._section] = self.headings.get(self._section, "") + data

    def handle_endtag(self, tag: str) -> None:
        if tag == "h2":
            self._within = False


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if "main" in self._open:
            own = attributes.get("id") if self._open[-1] == "main" else None
            name = attributes.get("data-part") or own
            if name:
                self.parts.append(name)
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass
