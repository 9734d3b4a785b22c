"""Lines of servers' start-ups: what is read from them, whatever has happened to them."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from logs import PASTED, REAL, as_it_is, composed, quoted, windows, word_wrapped, wrapped
from test_refusals import assert_refuses

from kvsim import cache_of, read_log
from kvsim.logs.capacity import block_size, several_groups
from kvsim.logs.remarks import TEMPLATES, remarks
from kvsim.logs.server_log import FIGURES
from kvsim.logs.text import MAX_LOG_BYTES

OBSERVATIONS = Path(__file__).parent / "data" / "observed_capacity.csv"
with OBSERVATIONS.open(newline="", encoding="utf-8") as table:
    ROWS = [row for row in csv.DictReader(table) if row["engine"] == "vLLM"]
EACH = pytest.mark.parametrize("name", REAL)


def values(log):
    return {name: printed.value for name, printed in log.figures.items()}


def names(log):
    return [remark.name for remark in remarks(log)]


@EACH
@pytest.mark.parametrize("pasted", PASTED)
def test_real_lines(name, pasted):
    text, engine, figures = REAL[name]
    log = read_log(pasted(text))
    assert (log.engine, log.generation) == engine
    assert values(log) == figures
    assert log.unread == ()


@EACH
@pytest.mark.parametrize("width", [40, 57, 80, 119])
@pytest.mark.parametrize("wrap", [wrapped, word_wrapped])
@pytest.mark.parametrize("then", [as_it_is, quoted, windows])
def test_real_lines_wrapped(name, width, wrap, then):
    text, _, figures = REAL[name]
    log = read_log(then(wrap(text, width)))
    found = values(log)
    if wrap is word_wrapped and "model" in figures:
        # A path that is longer than a line is broken without a trace of where.
        assert found.pop("model").replace(" ", "") == figures["model"]
        figures = {key: value for key, value in figures.items() if key != "model"}
    assert found == figures
    assert log.unread == ()


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("# GPU blocks: 127626\n2048 is a length", "blocks", 127626),
        ("block_size=16,\n320 of them", "block_size", 16),
        ("GPU KV cache size: 31,232 tokens\ntp_size=2", "tensor_parallel", 2),
        # A line of 40 columns or more, and no shorter than the next, may be a terminal's.
        ("INFO 02-20 00:01:02 kv_cache_utils.py:522] # GPU blocks: 1276\n26", "blocks", 127626),
        ("vllm serve a-model --port 8000 --tensor-\nparallel-size 4", "tensor_parallel", 4),
    ],
)
def test_what_a_break_parts(text, name, value):
    assert read_log(text).value(name) == value


def test_each_figure_names_its_line_and_worker():
    text = REAL["V1 of two kinds of layer"][0]
    figures = read_log(text).figures
    lines = {name: printed.line for name, printed in figures.items()}
    assert lines["model"] == lines["tensor_parallel"] == 1
    assert (lines["block_size"], lines["tokens"], lines["max_concurrency"]) == (2, 3, 4)
    assert figures["tokens"].worker == "EngineCore"
    assert read_log(wrapped(text, 80)).figures["tokens"].line == 9
    assert read_log("\n\n" + text).figures["tokens"].line == 5


# --- several workers, several starts ---------------------------------------------------------


def test_the_smallest_worker_decides():
    log = read_log(
        "(Worker_TP0 pid=11) INFO 09-01 10:00:00 [gpu_worker.py:298] Available KV cache memory: "
        "5.71 GiB\n"
        "(Worker_TP1 pid=12) INFO 09-01 10:00:00 [gpu_worker.py:298] Available KV cache memory: "
        "3.58 GiB\n"
        "(EngineCore_DP0 pid=9) INFO 09-01 10:00:01 [kv_cache_utils.py:864] GPU KV cache size: "
        "84,832 tokens\n"
        "(EngineCore_DP0 pid=9) INFO 09-01 10:00:01 [kv_cache_utils.py:864] GPU KV cache size: "
        "80,000 tokens"
    )
    assert (log.value("cache_gib"), log.value("tokens")) == (3.58, 80000)
    assert len(log.runs) == 1
    said = [remark.sentence for remark in remarks(log) if remark.name == "workers"]
    assert "3.58 to 5.71" in said[0]
    assert "80,000 to 84,832" in said[1]


def test_workers_of_one_name_are_told_apart_by_their_process():
    """vllm-project/vllm pull request 14447: all are called VllmWorkerProcess."""
    line = "(VllmWorkerProcess pid={}) INFO 04-12 08:21:19 [worker.py:267] the rest of the memory "
    line += "reserved for KV Cache is {}GiB."
    log = read_log("\n".join(line.format(*each) for each in ((521, 1.57), (507, 1.49), (9, 1.6))))
    assert (len(log.runs), log.value("cache_gib")) == (1, 1.49)


def test_copies_of_the_model_have_caches_of_their_own():
    """Prefixes as in huggingface/trl pull request 3310."""
    line = "(EngineCore_{} pid={}) INFO 04-17 23:05:00 [kv_cache_utils.py:634] GPU KV cache size: "
    line += "{:,} tokens"
    log = read_log("\n".join(line.format(*each) for each in ((1, 7, 158656), (7, 9, 150000))))
    assert (len(log.runs), log.value("tokens")) == (1, 150000)
    assert names(log)[:2] == ["copies", "block_default"]


def test_a_draft_models_cache_is_added_up():
    log = read_log(REAL["SGLang, draft"][0])
    assert log.figures["cache_gib"].half == pytest.approx(0.02)
    assert "pools" in names(log)
    assert "workers" not in names(log)


STARTS = [
    # Told apart by the greeting, by memory that is measured again, and by the maximum length.
    "INFO 09-01 10:00:00 [core.py:97] Initializing a V1 LLM engine (v0.14.1) with config: a\n"
    "INFO 09-01 10:00:01 [kv_cache_utils.py:864] GPU KV cache size: {tokens} tokens",
    "INFO 09-01 10:00:00 [gpu_worker.py:298] Available KV cache memory: 3.{short} GiB\n"
    "INFO 09-01 10:00:01 [kv_cache_utils.py:864] GPU KV cache size: {tokens} tokens",
    "# GPU blocks: {blocks}, # CPU blocks: 2048\n"
    "Maximum concurrency for {length} tokens per request: {concurrency}x",
    "[2026-02-04 11:30:29] KV Cache is allocated. #tokens: {tokens}\n"
    "[2026-02-04 11:30:31] max_total_num_tokens={tokens}, context_len={length}",
]


@pytest.mark.parametrize("start", STARTS)
def test_the_last_start_counts(start):
    first = start.format(tokens=31232, short=81, blocks=1952, length=20000, concurrency=1.56)
    last = start.format(tokens=23648, short=10, blocks=1478, length=29000, concurrency=0.82)
    log = read_log(f"{first}\n{last}")
    assert len(log.runs) == 2
    assert cache_of(log).tokens == 23648
    assert remarks(log)[0].values == {"runs": 2, "line": 3}


def test_two_starts_show_what_the_maximum_length_did():
    log = read_log("\n".join(STARTS[2].format(**run) for run in RUNS_OF_ISSUE_10517))
    (said,) = (remark.sentence for remark in remarks(log) if remark.name == "profiled")
    assert all(
        part in said for part in ("20,000", "29,000", "31,232", "23,648", "reserves nothing")
    )
    assert "profiling" not in names(log)


RUNS_OF_ISSUE_10517 = (
    {"blocks": 1952, "length": 20000, "concurrency": 1.56},
    {"blocks": 1478, "length": 29000, "concurrency": 0.82},
)


def test_a_start_that_did_not_get_as_far_as_its_cache():
    log = read_log(REAL["V0, 0.7"][0] + "\n" + REAL["V1 greets"][0])
    assert log.value("blocks") == 5519
    assert "unfinished" in names(log)


# --- what it comes to ------------------------------------------------------------------------

# Cases of the observed capacities: bytes a token, GiB, blocks and tokens as printed.
OBSERVED = {
    "C001": (131072, 3.81, 1952, 31232),
    "C004": (163840, 6.51, None, 42656),
    "C007": (49152, 10.55, None, 230528),
    "C035": (147456, 18.69, 8505, 136080),
    "C046": (36864, 93.75, None, 2730528),
    "C059": (204800, 2.18, 715, 11440),
}


@pytest.mark.parametrize("case", OBSERVED)
def test_observed_capacities(case):
    token_bytes, gib, blocks, tokens = OBSERVED[case]
    found = cache_of(read_log(f"Available KV cache memory: {gib} GiB"), token_bytes)
    assert found.basis == "bytes"
    assert found.tokens_low <= tokens <= found.tokens_high
    assert found.tokens_low <= found.tokens <= found.tokens_high
    if blocks:
        found = cache_of(read_log(f"# GPU blocks: {blocks}, # CPU blocks: 2048"))
        assert (found.tokens, found.basis) == (tokens, "blocks")
    found = cache_of(read_log(f"GPU KV cache size: {tokens:,} tokens"))
    assert (found.tokens, found.tokens_low, found.tokens_high) == (tokens,) * 3
    assert f"{tokens:,}" in found.sentence


def as_vllm_prints_it(row):
    """Lines with the figures of a row of the observed capacities."""
    lines = {
        "kv_gib_printed": "Available KV cache memory: {kv_gib_printed} GiB",
        "gpu_blocks_printed": "# GPU blocks: {gpu_blocks_printed}",
        "tokens_printed": "GPU KV cache size: {tokens_printed} tokens",
        "max_concurrency_printed": "Maximum concurrency for {max_model_len} tokens per request: "
        "{max_concurrency_printed}x",
        "block_size": "block_size={block_size}",
    }
    return "\n".join(line.format(**row) for name, line in lines.items() if row[name])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["case"])
def test_every_observed_capacity_of_vllm(row):
    log = read_log(as_vllm_prints_it(row))
    size = int(row["block_size"])
    if row["layout"] == "one group":
        assert not several_groups(log)
        found = cache_of(log)
        assert found.tokens > 0
        if row["tokens_printed"]:
            assert found.tokens == int(row["tokens_printed"])
    elif size & (size - 1):
        assert several_groups(log)
        if row["max_concurrency_printed"]:
            found = cache_of(log)
            requests = float(row["max_concurrency_printed"])
            assert found.tokens == pytest.approx(requests * int(row["max_model_len"]), abs=1)
    else:  # gpt-oss and Gemma: sliding windows
        assert row["sliding_window"]


@pytest.mark.parametrize(
    ("sizes", "tokens", "token_bytes"),
    [
        ("K size: 5.57 GB, V size: 5.57 GB", 104273, 114688),  # case C076
        ("KV size: 19.36 GB", 383872, 54144),  # case C080
    ],
)
def test_a_gb_of_sglang_is_a_gib(sizes, tokens, token_bytes):
    log = read_log(f"KV Cache is allocated. #tokens: {tokens}, {sizes}")
    gib = log.figures["cache_gib"]
    assert gib.number == pytest.approx(tokens * token_bytes / 2**30, abs=gib.half)
    assert cache_of(log).tokens == tokens


def test_a_figure_without_its_nought_is_as_exact():
    """Recent servers round to two decimals and print 9.2 for 9.20: case C067."""
    found = cache_of(read_log("Available KV cache memory: 9.2 GiB"), 24576)
    assert found.tokens_low <= 401776 <= found.tokens_high
    assert found.tokens_high - found.tokens_low < 500


@pytest.mark.parametrize(
    ("text", "size", "source"),
    [
        ("GPU KV cache size: 160 tokens, block_size=32", 32, "printed"),
        ("# GPU blocks: 5\nGPU KV cache size: 160 tokens", 32, "figures"),
        (REAL["V0, 0.6.4"][0], 16, "figures"),
        ("GPU KV cache size: 160 tokens", 16, "default"),
        ("max_total_num_tokens=160", 1, "default"),
    ],
)
def test_block_sizes(text, size, source):
    found = block_size(read_log(text))
    assert (found.tokens, found.source) == (size, source)


def test_layers_of_several_kinds_have_no_capacity_in_tokens():
    for name in ("V1 of two kinds of layer", "V1, one line"):
        log = read_log(REAL[name][0])
        assert several_groups(log)
        assert "groups" in names(log)
        assert "tokens" not in names(log)
        found = cache_of(log)
        assert found.basis == "concurrency"
        assert found.tokens_low < found.tokens < found.tokens_high
    assert found.tokens == int(3.38 * 131072)
    # Case C097, printed by the old rule: tokens / maximum length is 8.9.
    assert several_groups(
        read_log(
            "GPU KV cache size: 290,864 tokens\n"
            "Maximum concurrency for 32,768 tokens per request: 33.04x"
        )
    )
    assert not several_groups(read_log(REAL["V1, 0.7.3"][0]))
    # Blocks by those of a request, 1000 / ceil(1000 / 16), where the length is no whole blocks.
    assert not several_groups(
        read_log(
            "GPU KV cache size: 16,000 tokens\n"
            "Maximum concurrency for 1,000 tokens per request: 15.87x"
        )
    )


def test_a_concurrency_alone_is_a_capacity():
    """Case C068 of the observed capacities: 4.3 GiB, and no tokens."""
    text = "Maximum concurrency for 32,768 tokens per request: 5.73x\nblock_size=32"
    found = cache_of(read_log(text))
    assert found.basis == "concurrency"
    by_bytes = cache_of(read_log(text + "\nAvailable KV cache memory: 4.3 GiB"), 24576)
    assert by_bytes.basis == "bytes"
    assert found.tokens_low <= by_bytes.tokens_high
    assert by_bytes.tokens_low <= found.tokens_high


def test_what_does_not_say_how_large_the_cache_is():
    assert_refuses(lambda: cache_of(read_log("hello")), "do not say how large", "GiB")
    assert_refuses(
        lambda: cache_of(read_log("Available KV cache memory: 3.81 GiB")), "3.81", "bytes"
    )
    assert_refuses(
        lambda: cache_of(read_log("the rest of the memory reserved for KV Cache is -7.83GiB."), 1),
        "no token",
    )
    assert_refuses(lambda: cache_of(read_log("GPU KV cache size: 0 tokens")), "no token")
    assert_refuses(
        lambda: cache_of(read_log("Setting attention block size to 1600 tokens")), "concurrency"
    )
    for bad in (0, -1, float("nan"), "many", None.__class__):
        assert_refuses(lambda bad=bad: cache_of(read_log(""), bad), "bytes_per_token")


def test_text_that_is_too_long():
    assert_refuses(lambda: read_log("x" * (MAX_LOG_BYTES + 1)), "1,000,000 bytes")
    assert_refuses(lambda: read_log("é" * (MAX_LOG_BYTES // 2 + 1)), "1,000,000 bytes")
    assert_refuses(lambda: read_log(b"x" * (MAX_LOG_BYTES + 1)), "1,000,000 bytes")


def test_bytes_of_power_shell():
    log = read_log("GPU KV cache size: 31,232 tokens\r\n".encode("utf-16"))
    assert log.value("tokens") == 31232


# --- what it means ---------------------------------------------------------------------------


def test_sentences_that_apply():
    assert names(read_log("hello")) == ["nothing"]
    said = names(read_log(REAL["V0, 0.7"][0]))
    assert said == [
        *("block_derived", "gib", "concurrency", "admission", "profiling", "block", "swap"),
    ]
    said = names(read_log("tp_size=2\n" + REAL["SGLang"][0]))
    assert said == ["block_default", "tokens", "gib", "admission", "limit", "per_gpu", "page"]
    assert "pinned" in names(read_log(REAL["V1, one line"][0]))
    assert "refused" in names(read_log(REAL["V1 refuses"][0]))
    assert "no_room" in names(read_log("# GPU blocks: 0, # CPU blocks: 1638"))
    assert "disagree" in names(
        read_log("# GPU blocks: 5\nGPU KV cache size: 320 tokens\nblock_size=16")
    )
    mamba = "Mamba Cache is allocated. max_mamba_cache_size: 186, conv_state size: 0.10GB\n"
    assert "state" in names(read_log(mamba + "max_total_num_tokens=327310"))


def test_gpus_are_those_set_or_those_that_print():
    assert read_log(REAL["SGLang's settings"][0]).gpus == 8
    assert read_log(REAL["SGLang, latent"][0]).gpus == 7
    assert read_log(REAL["V1 in use, GiB"][0]).gpus == 2
    line = "(Worker_PP3 pid=9) INFO 09-25 00:15:14 [x.py:298] Available KV cache memory: 5 GiB"
    assert read_log(line).gpus == 4
    assert "per_gpu" in names(read_log(line))
    assert read_log(REAL["V0, 0.7"][0]).gpus == 1


def test_bytes_are_exact():
    log = read_log(REAL["V1 in use, bytes"][0])
    (said,) = (remark.sentence for remark in remarks(log) if remark.name == "bytes")
    assert "11,423,138,508 bytes" in said
    exact = cache_of(read_log("Current kv cache memory in use is 2097152 bytes."), 1024)
    assert (exact.tokens, exact.tokens_low, exact.tokens_high) == (2048, 2048, 2048)


def test_sentences_are_sentences():
    seen = set()
    for text, _, _ in REAL.values():
        for remark in remarks(read_log(text)):
            seen.add(remark.name)
            assert remark.sentence.endswith(".") or remark.name == "nothing"
            assert "{" not in remark.sentence
    assert seen <= set(TEMPLATES)


@pytest.mark.parametrize(
    "line",
    [
        "GPU KV cache size: unknown tokens",
        "GPU KV cache size: 31,23 tokens",
        "GPU KV cache size: 99999999999999999999 tokens",
        "Maximum concurrency for 20000 tokens per request: nanx",
        "Available KV cache memory: a lot",
        "# GPU blocks: -5, # CPU blocks: 3",
        "kvcache pool of another engine: 12 GiB",
        "vllm serve x --max-model-len 128k",
    ],
)
def test_lines_that_cannot_be_read_are_shown(line):
    log = read_log(f"GPU KV cache size: 160 tokens\n\n> {line}\n\nINFO done")
    (unread,) = log.unread
    assert (unread.line, unread.text) == (3, line)
    assert unread.sentence.endswith("”.")
    assert log.value("tokens") == 160


@pytest.mark.parametrize(
    "line",
    [
        "INFO 11-01 10:00:00 [loggers.py:123] Engine 000: GPU KV cache usage: 3.2%, Prefix cache",
        "INFO core.py:91] init engine (profile, create kv cache, warmup model) took 51.89 seconds",
        "INFO [worker.py:575] Replace gpu_memory_utilization with `--kv-cache-memory=57403864576` "
        "(53.46 GiB) to fit",
        "INFO [utils.py:306] Using LBHNC KV cache layout.",
        "decreasing `max_model_len` when initializing the engine",
    ],
)
def test_lines_that_say_nothing_about_the_size(line):
    log = read_log(line)
    assert log.unread == ()
    assert set(log.figures) <= {"max_length"}


# --- whatever comes --------------------------------------------------------------------------

PREFIXES = (
    "",
    "INFO 02-20 00:01:02 kv_cache_utils.py:522] ",
    "(EngineCore pid=120) INFO 06-01 09:22:30 [kv_cache_utils.py:1733] ",
    "(VllmWorker TP0 pid=77) INFO 06-01 09:22:30 [gpu_worker.py:9] ",
    "2024-06-28T06:11:52.685300953Z (LLMRayActor pid=20770) INFO 06-28 06:11:45 x.py:45] ",
    "[2026-02-04 11:30:29 DP0 TP1] ",
)


@st.composite
def good_logs(draw):
    """Lines of one server, and the figures in them."""
    blocks = draw(st.integers(1, 10**7))
    length = draw(st.integers(1, 10**7))
    gib = draw(st.integers(1, 10**5)) / 100
    concurrency = draw(st.integers(0, 10**5)) / 100
    number = draw(st.sampled_from(["{}", "{:,}"])).format
    per_request = f"Maximum concurrency for {number(length)} tokens per request: {concurrency:.2f}x"
    size = f"GPU KV cache size: {number(16 * blocks)} tokens"
    figures = {"cache_gib": gib, "max_length": length, "max_concurrency": concurrency}
    kind = draw(st.sampled_from(["V0", "V1", "V1 in one line", "SGLang"]))
    if kind == "V0":
        lines = [f"the rest of the memory reserved for KV Cache is {gib}GiB."]
        lines += [f"# GPU blocks: {blocks}, # CPU blocks: {length}", per_request]
        figures |= {"blocks": blocks, "cpu_blocks": length}
    elif kind == "SGLang":
        lines = [f"KV Cache is allocated. #tokens: {blocks}, KV size: {gib:.2f} GB"]
        lines += [f"max_total_num_tokens={blocks}, max_running_requests=7, context_len={length}"]
        figures = {"cache_gib": gib, "tokens": blocks, "max_num_seqs": 7, "max_length": length}
    else:
        lines = [f"Available KV cache memory: {gib} GiB"]
        lines += [size, per_request] if kind == "V1" else [f"{size}, {per_request}"]
        figures |= {"tokens": 16 * blocks}
    return lines, figures


@given(
    good_logs(),
    st.sampled_from(PREFIXES[1:]),
    st.integers(40, 200),
    st.sampled_from([wrapped, word_wrapped, lambda text, width: text]),
    st.permutations([as_it_is, quoted, windows]),
    st.sampled_from(["", "\x1b[1;32m", "[0;36m", "^[[36m"]),
)
def test_good_logs_come_back(log, prefix, width, wrap, done, colour):
    lines, figures = log
    text = wrap("\n".join(prefix + line for line in lines), width)
    for change in done:
        text = change(text)
    if colour:
        text = text.replace(": ", f": {colour}").replace("INFO", f"INFO{colour}")
    read = read_log(text)
    assert values(read) == figures
    assert read.unread == ()


@given(good_logs(), st.sampled_from([as_it_is, quoted, windows, composed]))
def test_bare_lines_come_back(log, change):
    """Lines alone, as people cut them out."""
    lines, figures = log
    assert values(read_log(change("\n".join(lines)))) == figures


PIECES = st.sampled_from(
    [
        *(part for text, _, _ in REAL.values() for part in (text, text[: len(text) // 2])),
        *(
            "GPU KV cache size:",
            "# GPU blocks:",
            "tokens",
            "x",
            "GiB",
            "model='",
            "{",
            "}",
            "(" * 9,
        ),
        *("\x1b[", "\x1b[31m", "\r", "\n", "> ", "nan", "-1", "1e999", "9" * 40, "\ud800", "\x00"),
    ]
)


@given(
    st.one_of(
        st.binary(), st.text(), st.lists(st.one_of(PIECES, st.text()), max_size=12).map("".join)
    )
)
def test_garbage_is_read_without_harm(pasted):
    log = read_log(pasted)
    assert set(log.figures) <= set(FIGURES)
    lines = pasted.count(b"\n" if isinstance(pasted, bytes) else "\n") + 1
    lines += pasted.count(b"\r" if isinstance(pasted, bytes) else "\r")
    assert all(1 <= printed.line <= lines for printed in log.figures.values())
    for said in (*remarks(log), *log.unread):
        assert said.sentence
        assert "\n" not in said.sentence
        assert said.sentence.isprintable()
    try:
        found = cache_of(log, 131072)
    except ValueError as error:
        said = str(error)
    else:
        assert 0 <= found.tokens_low <= found.tokens <= found.tokens_high
        said = found.sentence
    assert said.endswith(".")
