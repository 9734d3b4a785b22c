"""A reader's own server: each input, computing with progress, failures, the workshop swapped."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from playwright.sync_api import expect
from serving import serving

import kvsim
from browser.conftest import LOOKING
from browser.expected import check_page
from browser.hands import slider, switch
from browser.own_server import Readers, check_cache, check_results, facts, results, saved
from browser.test_accessibility import violations
from browser.test_taking import table, taken
from browser.visits import PHONE
from kvsim.deployment.cache_layout import GIB
from kvsim.logs.facts import NAMES
from kvsim.logs.remarks import remarks
from kvsim.traces.rows import TraceError
from kvsim_app import words

# Of few requests, so that it is computed in little time: long answers on a small card.
SLOW_GPU = "L4"
MEANS = {"own-prompt": 2000, "own-output": 400}
LENGTHS = kvsim.ExponentialLengths(2000, 400)
COMPUTED_MS = 300_000

LOG = (
    "INFO 05-30 06:40:55 gpu_worker.py:276] Available KV cache memory: 3.70 GiB\n"
    "INFO 05-30 06:40:56 kv_cache_utils.py:849] GPU KV cache size: 30,304 tokens\n"
    "INFO 05-30 06:40:56 kv_cache_utils.py:853] Maximum concurrency for 4,096 tokens per "
    "request: 7.40x\n"
    "INFO 05-30 06:40:57 kv_cache_utils.py:860] GPU KV cache size: many tokens\n"
)


@pytest.fixture(scope="module")
def readers(browser):
    """Readers of a server of the module's own, for what it refuses is logged."""
    with serving(clean=False) as served:
        readers = Readers(browser, served.url, LOOKING)
        yield readers
        readers.close()
        assert [line for line in served.log.splitlines() if not line.startswith("400 POST")] == []


@pytest.fixture(scope="module")
def opened(readers):
    """One page for the module."""
    return readers.open()


@pytest.fixture
def page(opened):
    """The page with nothing typed in, showing the plate's server."""
    if opened.locator("#whose-server").is_visible():
        opened.click("#whose-server-back")
    opened.evaluate("document.querySelectorAll('#own-asks form').forEach((form) => form.reset())")
    for name in ("own-model", "own-lengths"):
        opened.dispatch_event(f"#{name}", "input")
    opened.dispatch_event("#own-log-text", "input")
    return opened


def test_a_model_and_a_gpu_are_chosen(page):
    page.select_option("#own-model", "qwen3-8b")
    page.select_option("#own-gpu", "A100-40GB")
    page.fill("#own-tp", "2")
    page.select_option("#own-weights", "fp8")
    page.select_option("#own-kv", "fp8")
    page.fill("#own-utilization", "85")
    shape = kvsim.MODELS["qwen3-8b"].shape
    server = kvsim.server_for(
        shape, kvsim.CARDS["A100-40GB"], tp=2, weights="fp8", kv_dtype="fp8", utilization=0.85
    )
    check_cache(page, server, kvsim.ExponentialLengths())
    for sentence in kvsim.simplifications(shape, 2):
        expect(page.locator("#own-capacity")).to_contain_text(sentence)


def test_what_is_wrong_is_said_beside_its_field_and_nothing_typed_is_lost(page):
    page.fill("#own-tp", "3")
    page.fill("#own-utilization", "170")
    wrong = page.locator("#own-utilization-wrong")
    expect(wrong).to_contain_text("utilization is 1.7")
    assert page.get_attribute("#own-utilization", "aria-describedby") == "own-utilization-wrong"
    assert page.get_attribute("#own-utilization", "aria-invalid") == "true"
    page.fill("#own-utilization", "90")
    expect(wrong).to_have_count(0)
    assert page.input_value("#own-tp") == "3"
    page.fill("#own-tp", "1")
    page.select_option("#own-gpu", "L4")
    page.select_option("#own-model", "llama-3-70b")
    expect(page.locator("#own-capacity")).to_contain_text("Llama 3 70B does not fit on 1 x L4")


def test_a_config_is_pasted_or_chosen(page, tmp_path):
    config = json.dumps(kvsim.MODELS["mistral-7b"].config)
    page.select_option("#own-model", "")
    page.fill("#own-config", config)
    server = kvsim.server_for(kvsim.read_config(config), kvsim.CARDS["H100"])
    check_cache(page, server, kvsim.ExponentialLengths())
    page.fill("#own-config", "[1, 2")
    expect(page.locator("#own-config-wrong")).not_to_be_empty()
    assert page.input_value("#own-config") == "[1, 2"
    file = tmp_path / "config.json"
    file.write_text(config)
    page.set_input_files("#own-config-file", file)
    expect(page.locator("#own-config")).to_have_value(config)
    check_cache(page, server, kvsim.ExponentialLengths())


def test_a_log_is_read_and_sets_the_page(page):
    page.fill("#own-log-text", LOG)
    answer = page.locator("#own-log-answer")
    log = kvsim.read_log(LOG)
    for sentence in (
        *(remark.sentence for remark in remarks(log)),
        *(unread.sentence for unread in log.unread),
    ):
        expect(answer).to_contain_text(sentence)
    assert log.unread
    assert facts(page, "own-log-answer")[NAMES["tokens"]].split() == [
        *words.count(30304).split(),
        *("line", "2"),
    ]
    page.get_by_role("button", name="Set the page to this server").press("Enter")
    assert page.input_value("#own-tokens") == "30304"
    assert page.input_value("#own-longest") == "4096"
    shape = kvsim.MODELS["llama-3-8b"].shape
    one = kvsim.server_for(shape, kvsim.CARDS["H100"], cache_bytes=GIB)
    tokens = 30304 * one.model.kv_bytes_per_token
    server = kvsim.server_for(shape, kvsim.CARDS["H100"], cache_bytes=tokens)
    check_cache(page, server, kvsim.ExponentialLengths(), max_length=4096)
    page.fill("#own-log-text", "")
    expect(answer).to_be_empty()


def test_a_dropped_log_is_read_and_what_it_holds_is_text(page):
    page.evaluate(
        """(text) => {
          const files = new DataTransfer();
          files.items.add(new File([text], "server.log"));
          const drop = new DragEvent("drop", { dataTransfer: files, cancelable: true });
          document.getElementById("own-log-drop").dispatchEvent(drop);
        }""",
        LOG.replace("many", "<img src=x onerror=alert(1)>"),
    )
    expect(page.locator("#own-log-answer")).to_contain_text("<img src=x")
    assert page.locator("#own-log-answer img").count() == 0


def test_bad_rows_of_a_trace_are_all_listed_and_can_be_left_out(page, tmp_path):
    rows = ["arrival_s,prompt_tokens,output_tokens"]
    rows += [f"{n / 4},{100 + n},{50 if n % 3 else 'x'}" for n in range(60)]
    file = tmp_path / "trace.csv"
    file.write_text("\n".join(rows))
    page.select_option("#own-lengths", "trace")
    page.set_input_files("#own-trace-file", file)
    with pytest.raises(TraceError) as refused:
        kvsim.read_trace(file.read_bytes())
    expect(page.locator("#own-trace-file-wrong")).to_have_text(str(refused.value))
    listed = page.locator("#own-trace-answer .own-rows li").all_inner_texts()
    assert listed == [row.sentence for row in refused.value.bad_rows]
    assert len(listed) == 20
    # The cache is said all the same, and what is wrong with other fields too.
    page.select_option("#own-gpu", "A100-80GB")
    expect(page.locator("#own-capacity")).to_contain_text("Llama 3 8B on A100 SXM 80 GB")
    page.fill("#own-tp", "0")
    expect(page.locator("#own-tp-wrong")).to_contain_text("tp is 0")
    expect(page.locator("#own-trace-file-wrong")).to_have_text(str(refused.value))
    page.fill("#own-tp", "1")
    page.click("#own-start")
    expect(page.locator("#own-trace-file-wrong")).to_have_text(words.fill("own_trace_missing"))
    page.check("#own-leave-out")
    trace = kvsim.read_trace(file.read_bytes(), leave_out_bad_rows=True)
    expect(page.locator("#own-trace-answer")).to_contain_text(trace.remarks[0])
    assert facts(page, "own-trace-answer")[words.fill("own_trace_requests")] == str(len(trace))
    assert len(page.locator("#own-trace-answer .own-rows li").all()) == 20
    assert page.locator("#own-trace-file-wrong").count() == 0


def ask_for_something_slow(page):
    """Fill in a server and a workload that are computed in some seconds."""
    page.select_option("#own-gpu", SLOW_GPU)
    page.select_option("#own-lengths", "means")
    for name, mean in MEANS.items():
        page.fill(f"#{name}", str(mean))


def test_a_server_is_computed_kept_and_left_again(page):
    ask_for_something_slow(page)
    page.fill("#own-ttft-limit", "2")
    page.focus("#own-start")
    page.keyboard.press("Enter")
    progress = page.get_by_role("progressbar")
    expect(progress).to_be_visible()
    # The workshop shows the other server as soon as there is a coarse curve.
    whose = page.locator("#whose-server")
    coarse = words.fill("own_shown_coarse", title=SMALL_TITLE)
    expect(whose).to_contain_text(coarse, timeout=COMPUTED_MS)
    expect(page.locator("#assumptions-line")).to_contain_text("Llama 3 8B, L4")
    expect(page.locator("#own-results")).to_be_visible(timeout=COMPUTED_MS)
    page.get_by_role("button", name="Cancel").press("Enter")
    expect(page.locator("#own-notice")).to_have_text(words.fill("own_cancelled"))
    expect(progress).to_be_hidden()

    server = kvsim.server_for(kvsim.MODELS["llama-3-8b"].shape, kvsim.CARDS[SLOW_GPU])
    kept = json.loads(saved(page, "JSON"))
    rate, replications = (kept[0]["setting"][name] for name in ("rate_per_s", "replications"))
    check_results(
        page,
        [
            kvsim.Setting(
                server, allocation, LENGTHS, rate, replications, limits=kvsim.ServiceLimits(2)
            )
            for allocation in (kvsim.Contiguous(8192), kvsim.Paged())
        ],
    )
    assert len(saved(page, "CSV").splitlines()) == 3
    compile(page.inner_text("#own-python"), "shown", "exec")

    # Results come before the curve is whole; until it is, that is said.
    comments, rows = table(taken(page, "ttft", "csv")[1])
    coarse = "_coarse" if rows[-1]["paged_binds"] == "NaN" else ""
    assert words.fill(f"own_figures{coarse}", title=SMALL_TITLE) in comments
    expect(page.locator("#whose-server-name")).to_have_text(
        words.fill(f"own_shown{coarse}", title=SMALL_TITLE)
    )

    # Readouts and sliders follow the other atlas, and say what is not there yet.
    assert page.inner_text("#rate-shown") == words.rate(rate)
    lengths = replace(LENGTHS, max_length=8192)
    fits = kvsim.capacity(server, kvsim.Paged(), lengths).requests
    assert page.inner_text("[data-live=paged_fit] >> nth=0") == words.count(fits)
    # What is farthest from the settings asked about comes last.
    slider(page, "max_length").press("Home")
    slider(page, "block_size").press("End")
    switch(page).check()
    expect(page.locator("#ttft-figure figcaption")).to_contain_text(words.fill("not_computed"))
    assert page.inner_text("[data-live=paged_ttft] >> nth=0") == words.fill("unknown")
    # A cell says so; sentences that would need the figure are not said.
    for told in page.locator("#reading [data-told]").all():
        expect(told).to_be_hidden()
    expect(page.locator("#reading [data-untold]")).to_have_text(words.fill("not_computed"))
    assert words.fill("unknown") not in page.inner_text("#reading")
    assert "NaN" not in page.inner_text("#plate")
    (written, *_) = table(taken(page, "ttft", "csv")[1])[1]
    assert {written["paged_ttft_median_s"], written["paged_binds"]} == {"NaN"}
    assert page.locator("#workload").is_disabled()
    assert violations(page) == []

    # Other results are had where the sliders are put.
    slider(page, "rate").press("Home")
    at = [page.inner_text(f"#{name}-shown") for name in ("block-size", "max-length", "rate")]
    page.get_by_role("button", name="Results at the sliders’ position").click()
    for text in at:
        expect(page.locator("#own-results-at")).to_contain_text(text, timeout=COMPUTED_MS)
    assert [
        page.inner_text(f"#{name}-shown") for name in ("block-size", "max-length", "rate")
    ] == at
    page.click("#own-cancel")

    address = page.url
    page.get_by_role("button", name="Back to the plate’s server").press("Enter")
    expect(whose).to_be_hidden()
    check_page(page, film=False)
    assert page.url == address
    assert page.locator("#workload").is_enabled()
    expect(page.locator("#reading [data-told]")).to_have_count(2)
    for told in page.locator("#reading [data-told]").all():
        expect(told).to_be_visible()
    expect(page.locator("#reading [data-untold]")).to_be_hidden()


SMALL_TOKENS = 1100
SMALL_LENGTHS = kvsim.ExponentialLengths(300, 60, max_length=1024)
SMALL_TITLE = "Llama 3 8B on L4"


def ask_for_something_small(page):
    """Fill in a server and a workload that are computed soon, to the last position."""
    page.select_option("#own-lengths", "means")
    page.fill("#own-prompt", "300")
    page.fill("#own-output", "60")
    page.select_option("#own-memory", "cache_tokens")
    page.fill("#own-tokens", str(SMALL_TOKENS))
    page.select_option("#own-gpu", SLOW_GPU)


def small_server():
    """The server of :func:`ask_for_something_small`."""
    shape, card = kvsim.MODELS["llama-3-8b"].shape, kvsim.CARDS[SLOW_GPU]
    one = kvsim.server_for(shape, card, cache_bytes=GIB)
    tokens = SMALL_TOKENS * one.model.kv_bytes_per_token
    return kvsim.server_for(shape, card, cache_bytes=tokens)


def test_a_small_server_is_computed_to_its_end(page):
    ask_for_something_small(page)
    page.click("#own-start")
    expect(page.locator("#own-notice")).to_have_text(words.fill("own_done"), timeout=COMPUTED_MS)
    name = page.locator("#whose-server-name")
    expect(name).to_have_text(words.fill("own_shown", title=SMALL_TITLE))
    expect(page.get_by_role("progressbar")).to_be_hidden()
    kept = json.loads(saved(page, "JSON"))[1]["setting"]
    server, lengths = small_server(), SMALL_LENGTHS
    rates = page.locator("#ttft-table tbody th").all_text_contents()
    assert words.rate(kept["rate_per_s"]) in rates
    for kind, allocation in (("contiguous", kvsim.Contiguous(1024)), ("paged", kvsim.Paged())):
        sustained = kvsim.sustained_rate(
            server, allocation, lengths, replications=kept["replications"]
        )
        shown = page.inner_text(f"[data-live={kind}_sustained_value] >> nth=0")
        assert shown == words.per_second(sustained)
        curve = kvsim.ttft_curve(
            server, allocation, lengths, [kept["rate_per_s"]], replications=kept["replications"]
        )
        shown = page.inner_text(f"[data-live={kind}_ttft] >> nth=0")
        assert shown == words.seconds(float(curve.median_s[0]))
    slider(page, "rate").press("End")
    expect(page.locator("#rate-shown")).to_have_text(rates[-1])
    slider(page, "block_size").press("Home")
    expect(page.locator("#block-size-shown")).to_have_text(words.tokens(1))
    assert words.fill("unknown") not in page.text_content("#workshop")


def test_what_is_taken_away_is_of_the_server_that_is_shown(readers):
    """Files, a report and what is copied say whose they are; other sections stay with the plate."""
    page = readers.open("?maxlen=4096", permissions=["clipboard-read", "clipboard-write"])
    expect(page.locator("[data-sharing=finding]")).not_to_be_empty()
    sharing = page.inner_text("#sharing")
    ask_for_something_small(page)
    page.click("#own-start")
    expect(page.locator("#own-notice")).to_have_text(words.fill("own_done"), timeout=COMPUTED_MS)
    server, lengths = small_server(), SMALL_LENGTHS
    allocations = {"contiguous": kvsim.Contiguous(1024), "paged": kvsim.Paged()}
    whose = words.fill("own_figures", title=SMALL_TITLE)
    assumptions = page.inner_text("#assumptions-line")
    assert "Llama 3 8B, L4" in assumptions
    assert "300" in assumptions

    tables = {}
    for figure in ("capacity", "ttft", "cache"):
        file, content = taken(page, figure, "csv")
        assert file.startswith(f"kvsim-{figure}_Llama-3-8B-on-L4_block-16_maxlen-1024_rate-")
        comments, tables[figure] = table(content)
        assert comments[1].startswith("settings: block=16 maxlen=1024 rate=")
        # The list of the plate's workloads has no say.
        assert "work" not in comments[1] + file
        assert comments[2] == whose, "no link leads to it"
        assert page.text_content("[data-live=assumptions] >> nth=0") in comments
        png = taken(page, figure, "png")
        assert png[0] == file.replace(".csv", ".png")
        assert png[1].startswith(b"\x89PNG")
    for row in tables["capacity"]:
        fits = kvsim.capacity(server, allocations[row["allocation"]], lengths).requests
        assert float(row["requests_that_fit"]) == pytest.approx(fits)
    shown = page.inner_text("#rate-shown")
    (at,) = [row for row in tables["ttft"] if words.rate(float(row["request_rate_per_s"])) == shown]
    for kind in allocations:
        assert words.seconds(float(at[f"{kind}_ttft_median_s"])) == page.inner_text(
            f"[data-live={kind}_ttft] >> nth=0"
        )
        held = [float(row["tokens"]) for row in tables["cache"] if row["allocation"] == kind]
        assert sum(held) == server.capacity_tokens
    for figure in ("capacity", "ttft"):
        drawing = ET.fromstring(taken(page, figure, "svg")[1])
        written = " ".join("".join(drawing.itertext()).split())
        assert "Lengths of requests" not in written
        for part in (whose, assumptions):
            assert "".join(part.split()) in "".join(written.split())

    page.click("#copy-report")
    report = page.evaluate("navigator.clipboard.readText()")
    assert whose in report
    assert "work=" not in report
    for button, notice, copied in (
        ("copy-link", "notice", "link_copied"),
        ("copy-frame", "notice", "frame_copied"),
        ("copy-embed", "embed-notice", "embed_copied"),
    ):
        page.click(f"#{button}")
        expect(page.locator(f"#{notice}")).to_have_text(
            f"{words.fill(copied)} {words.fill('own_not_in_link')}"
        )
        assert "maxlen=4096" in page.evaluate("navigator.clipboard.readText()")

    slider(page, "max_length").press("Home")
    assert page.inner_text("#sharing") == sharing
    page.click("#whose-server-back")
    page.click("#copy-link")
    expect(page.locator("#notice")).to_have_text(words.fill("link_copied"))
    assert "Llama" not in "".join(table(taken(page, "capacity", "csv")[1])[0][:3])


def test_a_trace_is_replayed_at_its_own_times(page, tmp_path):
    lines = [f"{n * 0.5},{300 + 7 * n % 500},{40 + n % 60}" for n in range(120)]
    file = tmp_path / "trace.csv"
    file.write_text("\n".join(["arrival_s,prompt_tokens,output_tokens", *lines]))
    page.select_option("#own-gpu", SLOW_GPU)
    page.select_option("#own-lengths", "trace")
    page.set_input_files("#own-trace-file", file)
    expect(page.locator("#own-trace-answer")).to_contain_text("120")
    page.select_option("#own-replay", "own-times")
    page.click("#own-start")
    expect(page.locator("#own-results-at")).to_contain_text(
        "the trace at its own times", timeout=COMPUTED_MS
    )
    server = kvsim.server_for(kvsim.MODELS["llama-3-8b"].shape, kvsim.CARDS[SLOW_GPU])
    trace = kvsim.read_trace(file.read_bytes())
    run = kvsim.simulate(trace.requests(), server, kvsim.Paged())
    figures = kvsim.summarise([run]).figures()
    heading = words.fill(
        "own_seconds_of", measure=words.fill("own_measure_latency"), percentile="p99"
    )
    assert results(page)[heading][1] == words.significant(figures["latency_p99_s"])
    if page.locator("#own-cancel").is_visible():
        page.click("#own-cancel")


def test_what_is_cancelled_leaves_what_there_was(page):
    page.select_option("#own-model", "mixtral-8x7b")
    page.select_option("#own-gpu", "H200")
    page.click("#own-start")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#own-notice")).to_have_text(words.fill("own_cancelled"))
    expect(page.get_by_role("progressbar")).to_be_hidden()
    assert page.input_value("#own-model") == "mixtral-8x7b"
    if page.locator("#whose-server").is_hidden():
        check_page(page)


def test_a_server_that_stops_in_the_middle_takes_nothing_along(visits):
    with serving(clean=False) as served:
        visits.hosts.add(served.url.split("/")[2])
        page = visits.open(ready=False)
        visits.go(page, served.url)
        page.wait_for_selector("html[data-films]", state="attached")
        ask_for_something_slow(page)
        page.click("#own-start")
        expect(page.get_by_role("progressbar")).to_be_visible()
        served.stop()
    expect(page.locator("#own-gone")).to_have_text(words.fill("own_gone"))
    expect(page.locator("#own-notice")).to_contain_text("It failed")
    expect(page.get_by_role("progressbar")).to_be_hidden()
    assert page.input_value("#own-prompt") == "2000"
    if page.locator("#whose-server").is_visible():
        assert "NaN" not in page.inner_text("#plate")
        page.click("#whose-server-back")
    check_page(page, film=False)
    slider(page, "max_length").press("Home")
    check_page(page, film=False, max_length=1024)
    visits.complaints.clear()  # of the browser, about connections that were refused


def test_axe_finds_nothing_on_a_phone_in_the_dark(readers):
    page = readers.open(color_scheme="dark", **PHONE)
    page.click("#own-more summary")
    page.fill("#own-batched", "1")
    expect(page.locator("#own-batched-wrong")).not_to_be_empty()
    page.fill("#own-log-text", LOG)
    expect(page.locator("#own-log-answer")).to_contain_text("GPU KV cache size: many")
    page.select_option("#own-lengths", "trace")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]
    for size in page.evaluate(
        """[...document.querySelectorAll("#own-asks :is(input, select, button, textarea)")]
             .map((each) => each.getBoundingClientRect())
             .filter(({ width }) => width)
             .map(({ width, height }) => [width, height])"""
    ):
        assert min(size) >= 24
