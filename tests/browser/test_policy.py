"""The content security policy that the page is sent with: it holds, and the page works under it.

That it works is what all other browser tests show: they run under it, and what it refuses would be
a complaint on the console.
"""

import pytest

from browser.expected import check_page
from browser.hands import put


@pytest.fixture(scope="module")
def bare(browser, plate):
    """A page on which it is tried to run what must not run, and which may complain."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(plate)
    page.wait_for_selector("html[data-ready]", state="attached")
    page.evaluate(
        """() => {
          window.refused = [];
          document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) =>
            refused.push(effectiveDirective));
        }"""
    )
    yield page
    context.close()


ATTEMPTS = {
    # Later: what a debugger calls may evaluate for as long as the call lasts.
    "an evaluated text": ("() => { setTimeout(() => eval('window.ran = 1')); }", "script-src"),
    "a function from a text": (
        "() => { setTimeout(() => new Function('window.ran = 1')()); }",
        "script-src",
    ),
    "a text as a timer": ("() => { setTimeout('window.ran = 1'); }", "script-src"),
    "a script put in": (
        """() => {
          const script = document.createElement("script");
          script.text = "window.ran = 1";
          document.body.append(script);
        }""",
        "script-src-elem",
    ),
    "a handler in HTML": (
        "() => { document.createElement('p').innerHTML = '<i onclick=\"window.ran = 1\">x</i>'; }",
        "script-src-attr",
    ),
    "a script of another host": (
        """() => {
          const script = document.createElement("script");
          script.src = "https://elsewhere.example/x.js";
          document.body.append(script);
        }""",
        "script-src-elem",
    ),
    "a request to another host": (
        "() => { fetch('https://elsewhere.example/').catch(() => {}); }",
        "connect-src",
    ),
    "a picture of another host": (
        "() => { new Image().src = 'https://elsewhere.example/x.png'; }",
        "img-src",
    ),
    "a frame": (
        """() => {
          const frame = document.createElement("iframe");
          frame.src = "https://elsewhere.example/";
          document.body.append(frame);
        }""",
        "frame-src",
    ),
}


@pytest.mark.parametrize("what", ATTEMPTS)
def test_it_refuses(bare, what):
    attempt, directive = ATTEMPTS[what]
    bare.evaluate("() => { refused.length = 0; }")
    bare.evaluate(attempt)
    bare.wait_for_function("directive => refused.includes(directive)", arg=directive)
    assert bare.evaluate("window.ran") is None


def test_nothing_is_refused_in_use(visits):
    page = visits.open("?overhead=3.7&work=azure-code&theme=dark")
    page.evaluate(
        """() => {
          window.refused = [];
          document.addEventListener("securitypolicyviolation", ({ blockedURI }) =>
            refused.push(blockedURI));
        }"""
    )
    page.click("#play")
    put(page, rate=17)
    check_page(page, rate=17, block_overhead=3.7, workload="azure-code", film=False)
    page.locator("#tables summary").click()
    page.emulate_media(media="print")
    page.emulate_media(media="screen")
    assert page.evaluate("refused") == []
