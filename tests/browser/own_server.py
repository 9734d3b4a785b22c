"""What the page's section on a reader's own server should say, and reading what it says."""

from dataclasses import replace

from playwright.sync_api import expect

import kvsim
from browser.visits import Visits
from kvsim_app import words


class Readers(Visits):
    """Visits of those who are refused something; the browser notes it, and the page says it."""

    def _listen(self, message):
        if "status of 400" not in message.text:
            super()._listen(message)


def facts(page, place):
    """The list of facts in a place, by name."""
    rows = page.locator(f"#{place} .own-facts > div")
    return {row.locator("dt").inner_text(): row.locator("dd").inner_text() for row in rows.all()}


def check_cache(page, server, lengths, *, block_size=16, max_length=8192):
    """The page says what kvsim does of a server's cache."""
    expect(page.locator("#own-capacity")).to_contain_text(words.count(server.capacity_tokens))
    lengths = replace(lengths, max_length=max_length)
    fits = {
        kind: kvsim.capacity(server, allocation, lengths).requests
        for kind, allocation in (
            ("contiguous", kvsim.Contiguous(max_length)),
            ("paged", kvsim.Paged(block_size)),
        )
    }
    assert (
        facts(page, "own-capacity").items()
        >= {
            words.fill("own_cache_tokens"): words.count(server.capacity_tokens),
            words.fill("own_cache_per_token"): words.count(server.model.kv_bytes_per_token),
            words.fill("own_cache_contiguous", max_length=words.tokens(max_length)): words.count(
                fits["contiguous"]
            ),
            words.fill("own_cache_paged", block_size=words.tokens(block_size)): words.count(
                fits["paged"]
            ),
        }.items()
    )


def results(page):
    """The rows of the table of results, by their headings."""
    return {
        row.locator("th").inner_text(): row.locator("td").all_inner_texts()
        for row in page.locator("#own-figures tbody tr").all()
    }


def check_results(page, settings):
    """The table holds the figures of these settings, contiguous and paged."""
    figures = [setting.summary().figures() for setting in settings]
    binding = [setting.binding_limits().names[0] for setting in settings]
    wanted = {
        words.fill(
            "own_seconds_of", measure=words.fill(f"own_measure_{measure}"), percentile=percentile
        ): [words.significant(each[f"{measure}_{percentile}_s"]) for each in figures]
        for measure in ("ttft", "tpot", "latency")
        for percentile in ("p50", "p90", "p99")
    }
    for name, key in (("completed", "completed"), ("goodput", "goodput")):
        wanted[words.fill(f"own_{name}")] = [
            words.per_second(each[f"{key}_requests_per_s"]) for each in figures
        ]
    wanted[words.fill("own_preemptions")] = [words.count(each["preemptions"]) for each in figures]
    wanted[words.fill("own_binding")] = [words.fill(f"own_binding_{each}") for each in binding]
    assert results(page) == wanted


def saved(page, kind):
    """The text of a file that a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save as {kind}").click()
    return download.value.path().read_text("utf-8")
