"""The numbers that the plate is about, as the page itself shows them at its own settings."""

import pytest


def column(page, source, name):
    return page.evaluate("looking.sources()")[source][name]


def at_18_per_s(page, kind, name):
    rates = column(page, f"ttft_{kind}", "rate")
    return column(page, f"ttft_{kind}", name)[rates.index(18)]


def test_requests_that_fit_and_what_is_in_use(page):
    readouts = page.inner_text("#readouts").replace("\u202f", " ")
    for shown in ("52", "333", "15.6 %", "99.4 %"):
        assert shown in readouts
    assert "6.4 times" in page.inner_text("#ratio-line")
    assert column(page, "capacity_contiguous", "requests") == [52]
    assert column(page, "capacity_paged", "requests") == [pytest.approx(332.88, abs=0.005)]


def test_the_wait_at_18_requests_a_second(page):
    assert at_18_per_s(page, "paged", "steady") == pytest.approx(0.054, rel=0.05)
    # The contiguous median differs from one minute to the next: the band contains the source's.
    assert at_18_per_s(page, "contiguous", "low") <= 6.01
    assert at_18_per_s(page, "contiguous", "high") >= 6.01
    # Past the sustained rate the line is the other one.
    assert at_18_per_s(page, "contiguous", "steady") is None
    assert at_18_per_s(page, "contiguous", "growing") is not None
    # And the page says what that means.
    assert "its queue grows" in page.inner_text("#ttft-figure figcaption")
    assert "no long-run median" in page.inner_text("#ttft-figure figcaption")
