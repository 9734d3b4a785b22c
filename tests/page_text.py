"""Reading the page as text, without a browser."""

from html.parser import HTMLParser

# Elements that HTML closes by itself.
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Page(HTMLParser):
    """Every element with its attributes, its text, and the ids of what it stands in.

    Fails on an element that is closed out of turn or not at all.
    """

    def __init__(self, html):
        super().__init__()
        self.elements = []
        self._open = []
        self.feed(html)
        self.close()
        assert self._open == [], "never closed"

    def handle_starttag(self, tag, attributes):
        """Open an element."""
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"attribute twice in {self.get_starttag_text()}"
        within = [element.attributes["id"] for element in self._open if "id" in element.attributes]
        element = Element(tag, dict(attributes), within)
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        """Close the one that was opened last."""
        assert self._open, f"</{tag}> with nothing open"
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data):
        """Add to the text of everything that is open."""
        for element in self._open:
            element.text += data

    def all(self, tag=None, **attributes):
        """Elements by tag and attributes; an attribute's value may be ``...``, which is any."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        return [
            element
            for element in self.elements
            if tag in (None, element.tag)
            and all(
                name in element.attributes and value in (..., element.attributes[name])
                for name, value in wanted.items()
            )
        ]

    def one(self, tag=None, **attributes):
        """The only such element."""
        (element,) = self.all(tag, **attributes)
        return element


class Element:
    """One element of a page."""

    def __init__(self, tag, attributes, within):
        self.tag = tag
        self.attributes = attributes
        self.within = within
        self.text = ""

    def __getitem__(self, name):
        return self.attributes[name]


def live_texts(html):
    """The text of every live element by key, in the order of the page.

    Without the table of waiting times, which the script makes anew.
    """
    texts = {}
    for element in Page(html).all(data_live=...):
        if "ttft-table" not in element.within:
            texts.setdefault(element["data-live"], []).append(element.text)
    return texts
