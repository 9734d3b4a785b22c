"""Traces: what is read from a file, what is said about its bad rows, and how it is replayed."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvsim import (
    ExponentialLengths,
    Paged,
    Requests,
    Server,
    Trace,
    Traffic,
    capacity,
    read_trace,
    requests_csv,
    simulate,
    sustained_rate,
    ttft_curve,
    write_trace,
)
from kvsim.traces.rows import MAX_TOKENS, MAX_TRACE_BYTES, MAX_TRACE_ROWS, TraceError

HEADER = "arrival_s,prompt_tokens,output_tokens\n"

# The first rows of AzureLLMInferenceTrace_conv.csv of 2023.
AZURE_2023 = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:51.2224670,879,55
"""
# That of 2024 has six decimals and a zone.
AZURE_2024 = """TIMESTAMP,ContextTokens,GeneratedTokens
2024-05-10 00:00:00.009930+00:00,2162,5
2024-05-10 00:00:00.017335+00:00,2399,6
"""
# The first rows of Mooncake's trace, with fewer hashes.
MOONCAKE = """{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1, 2]}
{"timestamp": 3000, "input_length": 7322, "output_length": 490, "hash_ids": [0, 14]}
"""


def columns(trace):
    return [
        trace.arrival_s.tolist(),
        trace.prompt_tokens.tolist(),
        trace.output_tokens.tolist(),
    ]


def refused(data, *parts):
    """One sentence is said, with all parts in it; returned is the error."""
    with pytest.raises(TraceError) as caught:
        read_trace(data)
    said = str(caught.value)
    assert said.endswith(".")
    assert said.isprintable()
    for part in parts:
        assert part in said
    return caught.value


# --- what is read ----------------------------------------------------------------------------


def test_azure_of_2023():
    trace = read_trace(AZURE_2023)
    assert trace.kind == "Azure"
    arrival, prompt, output = columns(trace)
    assert arrival == pytest.approx([0, 4.314579, 4.541877], abs=1e-9)
    assert (prompt, output) == ([374, 396, 879], [44, 109, 55])


def test_azure_of_2024():
    arrival, prompt, output = columns(read_trace(AZURE_2024))
    assert arrival == pytest.approx([0, 0.007405], abs=1e-9)
    assert (prompt, output) == ([2162, 2399], [5, 6])


def test_zones_are_taken_off():
    rows = "2024-05-10T01:00:00+01:00,1,1\n2024-05-10 00:00:01Z,1,1\n2024-05-09 23:00:02-0100,1,1"
    trace = read_trace("timestamp,contexttokens,generatedtokens\n" + rows)
    assert trace.arrival_s.tolist() == [0, 1, 2]


def test_mooncake():
    trace = read_trace(MOONCAKE)
    assert columns(trace) == [[0, 3], [6758, 7322], [500, 490]]
    assert trace.kind == "Mooncake"
    assert "hash_ids" in trace.remarks[0]
    rows = 'output_length,timestamp,input_length,hash_ids\n500,0,6758,"[0, 1, 2]"\n490,3000,7322,'
    assert read_trace(rows).digest == trace.digest


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text,
        lambda text: "\n \n" + text.replace("\n", "\n\n"),
        lambda text: text.rstrip(),
        lambda text: text.replace(",", " , "),
        lambda text: text.upper(),
        lambda text: "\n".join(
            ",".join(f'"{field}"' for field in row.split(",")) for row in text.split("\n") if row
        ),
        lambda text: text.replace("7", "7.0").replace("300", "3e2"),
        lambda text: text.encode(),
        lambda text: ("\ufeff" + text).encode(),
    ],
)
def test_spellings(change):
    trace = read_trace(change(HEADER + "0,12,5\n1.5,300,7\n"))
    assert columns(trace) == [[0, 1.5], [12, 300], [5, 7]]
    assert trace.remarks == []


def test_rows_are_sorted_and_it_is_said():
    trace = read_trace(HEADER + "3,30,1\n1,10,1\n2,20,1\n1,11,2\n")
    assert columns(trace) == [[1, 1, 2, 3], [10, 11, 20, 30], [1, 2, 1, 1]]
    assert trace.late_rows == 2
    assert trace.remarks == ["2 rows arrive before the row above: the rows were sorted by arrival."]


def test_requests_of_one_moment_keep_their_order():
    rows = "".join(f"{second % 2},{second + 1},1\n" for second in range(1000))
    trace = read_trace(HEADER + rows)
    assert trace.prompt_tokens.tolist() == [*range(1, 1001, 2), *range(2, 1001, 2)]


# --- what is refused -------------------------------------------------------------------------

BAD_ROWS = {
    "0,5": "has 2 fields",
    "0,5,5,5": "has 4 fields",
    "-1,5,5": "arrival_s '-1'",
    "nan,5,5": "arrival_s 'nan'",
    "inf,5,5": "arrival_s 'inf'",
    "1e11,5,5": "from 0 to 10,000,000,000 s",
    "0,0,5": "prompt_tokens '0', which must be a whole number from 1",
    "0,5,-3": "output_tokens '-3'",
    "0,5.5,5": "prompt_tokens '5.5'",
    "0,1_000,5": "prompt_tokens '1_000'",
    "0,٣,5": "prompt_tokens",
    "0,,5": "prompt_tokens ''",
    f"0,{MAX_TOKENS + 1},5": "from 1 to 2,000,000",
    "0,1e999,5": "prompt_tokens '1e999'",
    '0,"5,5': "a quotation mark",
    '0,"5"5,5': "a quotation mark",
    "0,\x00,5": "prompt_tokens",
    "0," + "9" * 5000 + ",5": "9…'",
}


@pytest.mark.parametrize("row", BAD_ROWS)
def test_bad_rows(row):
    error = refused(
        HEADER + f"0,1,1\n\n{row}\n1,2,2\n", "1 row is no request", "line 4", BAD_ROWS[row]
    )
    assert [bad.line for bad in error.bad_rows] == [4]
    assert error.bad_rows[0].sentence.startswith("Line 4 has ")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("2023-02-30 18:15:46.6805900,374,44", "a date and a time"),
        ("2023-11-16 18:15:61,374,44", "a date and a time"),
        ("0001-11-16 18:15:46,374,44", "a date and a time"),
        ("46.68,374,44", "a date and a time"),
    ],
)
def test_bad_times(row, reason):
    refused(AZURE_2023 + row, "line 5", reason)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("[1, 2, 3]", "is no JSON object"),
        ("{", "is no JSON object"),
        ("[" * 100_000, "is no JSON object"),
        ('{"timestamp": 1, "input_length": 5}', "has no output_length"),
        ('{"timestamp": NaN, "input_length": 5, "output_length": 5}', "timestamp 'nan'"),
        ('{"timestamp": 1, "input_length": true, "output_length": 5}', "input_length 'bool'"),
        ('{"timestamp": 1, "input_length": [5], "output_length": 5}', "input_length 'list'"),
        ('{"timestamp": 1, "input_length": null, "output_length": 5}', "'NoneType'"),
        (f'{{"timestamp": {"9" * 5000}, "input_length": 5, "output_length": 5}}', "is no JSON"),
    ],
)
def test_bad_objects(row, reason):
    error = refused(MOONCAKE + row, "line 3", reason)
    assert len(error.bad_rows) == 1


def test_all_bad_rows_are_reported_at_once():
    rows = "".join(f"{second},5,{second % 2}\n" for second in range(1000))
    error = refused(HEADER + rows, "500 rows are no request", "line 2 ", "line 6 ", "and 497 more")
    assert str(error).endswith("correct them, or leave them out.")
    refused(HEADER + "0,5,0\n0,5,1\n", "1 row is no request", "correct it, or leave it out.")
    assert [bad.line for bad in error.bad_rows] == list(range(2, 1002, 2))
    trace = read_trace(HEADER + rows, leave_out_bad_rows=True)
    assert len(trace) == 500
    assert trace.bad_rows == error.bad_rows
    assert "500 rows are no request" in trace.remarks[0]
    assert "left out" in trace.remarks[0]


def test_nothing_is_left():
    data = HEADER + "0,0,0\n"
    refused(data, "no other is left")
    with pytest.raises(TraceError, match="no other is left"):
        read_trace(data, leave_out_bad_rows=True)
    refused(HEADER, "no rows")
    refused("", "empty", "arrival_s,prompt_tokens,output_tokens")
    refused(" \n\t\n", "empty")


@pytest.mark.parametrize(
    "header",
    ["time;prompt;output", "timestamp,prompt,output", '"arrival_s', "[]", "x" * 500, "\x00\x01"],
)
def test_unknown_columns(header):
    refused(f"{header}\n1,2,3\n", "first line", "timestamp,input_length,output_length")


def test_a_column_that_is_there_twice():
    refused("arrival_s,prompt_tokens,output_tokens,arrival_s\n1,2,3,4\n", "two columns arrival_s")


def test_too_much():
    refused(b"\n" * (MAX_TRACE_BYTES + 1), "larger than 20,000,000 bytes")
    refused(HEADER + "0,1,1\n" * (MAX_TRACE_ROWS + 1), "200,001 rows", "at most 200,000")
    refused(HEADER.encode("utf-16"), "UTF-8")
    refused(b"arrival_s\xff", "byte 9")


def test_as_much_as_is_allowed():
    arrival = np.arange(MAX_TRACE_ROWS) / 7
    requests = Requests(arrival, np.full(MAX_TRACE_ROWS, 100), np.full(MAX_TRACE_ROWS, 9))
    trace = read_trace(write_trace(requests))
    assert len(trace) == MAX_TRACE_ROWS
    assert trace.arrival_s.tolist() == arrival.tolist()


# --- whatever comes --------------------------------------------------------------------------

FIELD = st.one_of(
    st.integers().map(str),
    st.floats().map(repr),
    st.sampled_from(["", '"', '""', '"1', "1e999", "null", "2023-11-16 18:15:46.68", "\ud800"]),
    st.text(max_size=5),
)
ROW = st.lists(FIELD, max_size=5).map(",".join)
STARTS = st.sampled_from([HEADER, AZURE_2023, MOONCAKE, "", "\ufeff" + HEADER, "{", '"'])
GARBAGE = st.one_of(
    st.binary(),
    st.text(),
    st.builds("{}{}".format, STARTS, st.lists(ROW, max_size=6).map("\n".join)),
    st.builds("{}{}".format, STARTS, st.recursive(st.floats(), st.lists).map(json.dumps)),
)


@given(GARBAGE, st.booleans())
def test_garbage_is_read_or_refused(data, leave_out):
    try:
        trace = read_trace(data, leave_out_bad_rows=leave_out)
    except TraceError as error:
        said = [str(error)]
        bad_rows = error.bad_rows
    else:
        said = trace.remarks
        bad_rows = trace.bad_rows
        assert leave_out or not bad_rows
        assert len(trace.requests()) == len(trace)
        pmf = trace.lengths().cached_tokens_pmf()
        assert pmf.sum() == pytest.approx(1)
    for sentence in (*said, *(row.sentence for row in bad_rows)):
        assert sentence.endswith(".")
        assert sentence.isprintable()
    lines = [row.line for row in bad_rows]
    assert lines == sorted(set(lines))


@st.composite
def requests_of(draw):
    rows = draw(
        st.lists(
            st.tuples(st.floats(0, 1e9), st.integers(1, MAX_TOKENS), st.integers(1, MAX_TOKENS)),
            min_size=1,
            max_size=20,
        )
    )
    return Requests(*zip(*sorted(rows), strict=True))


@given(requests_of())
def test_what_is_written_is_read_again(requests):
    trace = read_trace(write_trace(requests))
    assert trace.arrival_s.tolist() == requests.arrival_s.tolist()
    assert trace.prompt_tokens.tolist() == requests.prompt_tokens.tolist()
    assert trace.output_tokens.tolist() == requests.output_tokens.tolist()
    assert (trace.bad_rows, trace.late_rows, trace.remarks) == ((), 0, [])
    assert write_trace(trace) == write_trace(requests)


@given(requests_of(), st.data())
def test_good_rows_among_bad_ones_come_back(requests, data):
    good = write_trace(requests).splitlines()[1:]
    bad = data.draw(
        st.lists(st.sampled_from([row for row in BAD_ROWS if len(row) < 50]), max_size=5)
    )
    rows = data.draw(st.permutations([(row, True) for row in good] + [(row, False) for row in bad]))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    text = HEADER.rstrip() + end + end.join(row for row, _ in rows)
    trace = read_trace(text, leave_out_bad_rows=True)
    assert [row.line for row in trace.bad_rows] == [
        line for line, (_, right) in enumerate(rows, 2) if not right
    ]
    found = sorted(zip(*columns(trace), strict=True))
    wanted = (requests.arrival_s, requests.prompt_tokens, requests.output_tokens)
    assert found == sorted(zip(*(column.tolist() for column in wanted), strict=True))


# --- how it is replayed ----------------------------------------------------------------------


def plate_trace(count=400):
    return read_trace(write_trace(Traffic(ExponentialLengths(300, 60, 2048)).first(count, 5.0)))


def test_a_run_is_written_as_its_requests():
    trace = plate_trace()
    timeline = simulate(trace.requests(), Server(), Paged())
    assert read_trace(write_trace(timeline)).digest == trace.digest
    kept = read_trace(requests_csv([timeline]))
    assert kept.digest == trace.digest
    assert "'ttft_s'" in kept.remarks[0]


def test_rates():
    trace = plate_trace()
    own = trace.at_rate(trace.rate_per_s)
    np.testing.assert_allclose(own.arrival_s, trace.arrival_s - trace.arrival_s[0], atol=1e-9)
    fast = trace.at_rate(50)
    assert fast.arrival_s[0] == 0
    assert (len(fast) - 1) / fast.arrival_s[-1] == pytest.approx(50)
    np.testing.assert_allclose(fast.arrival_s * 50, own.arrival_s * trace.rate_per_s)
    assert fast.output_tokens.tolist() == trace.output_tokens.tolist()


def test_rates_that_cannot_be():
    for bad in (0, -1, float("nan"), float("inf"), "5"):
        with pytest.raises(ValueError, match="rate_per_s"):
            plate_trace(5).at_rate(bad)
    alone = read_trace(HEADER + "5,1,1\n")
    assert alone.rate_per_s == float("inf")
    with pytest.raises(ValueError, match="at once"):
        alone.at_rate(1)


def test_spreads():
    trace = read_trace(HEADER + "".join(f"{n},{n + 1},{2 * n + 1}\n" for n in range(101)))
    prompts, outputs = trace.prompt_spread, trace.output_spread
    assert (prompts.mean, prompts.p50, prompts.p90, prompts.p99, prompts.greatest) == (
        *(51, 51, 91, 100, 101),
    )
    assert (outputs.p50, outputs.greatest) == (101, 201)


def test_draws_are_rows_of_the_trace():
    trace = plate_trace(50)
    rows = set(zip(trace.prompt_tokens.tolist(), trace.output_tokens.tolist(), strict=True))
    drawn = Traffic(trace.lengths()).first(20_000)
    pairs = list(zip(drawn.prompt_tokens.tolist(), drawn.output_tokens.tolist(), strict=True))
    assert set(pairs) == rows
    assert drawn.prompt_tokens.mean() == pytest.approx(trace.prompt_tokens.mean(), rel=0.03)
    few = Traffic(trace.lengths()).first(100)
    assert few.prompt_tokens.tolist() == drawn.prompt_tokens[:100].tolist()


@pytest.mark.parametrize("max_length", [2, 64, 300, None])
def test_cached_tokens_against_brute_force(max_length):
    lengths = plate_trace(200).lengths(max_length)
    weights = np.zeros(lengths.max_length)
    for prompt, output in zip(lengths.prompt_tokens, lengths.output_tokens, strict=True):
        weights[prompt : prompt + output] += 1
    np.testing.assert_allclose(lengths.cached_tokens_pmf(), weights / weights.sum())


@pytest.mark.parametrize("max_length", [2, 64, None])
def test_prompts_and_their_outputs(max_length):
    lengths = plate_trace(200).lengths(max_length)
    prompts, outputs = lengths.prompt_pmf(), lengths.output_by_prompt()
    assert len(prompts) == len(outputs) == lengths.max_length
    for prompt in range(lengths.max_length):
        here = lengths.prompt_tokens == prompt
        assert prompts[prompt] == pytest.approx(here.mean())
        assert outputs[prompt] == pytest.approx((here * lengths.output_tokens).mean())


def test_cuts():
    trace = read_trace(HEADER + "0,5,5\n1,50,5\n2,5,50\n3,9,1\n")
    cut = trace.cut(10)
    assert columns(cut) == [[0, 1, 2, 3], [5, 9, 5, 9], [5, 1, 5, 1]]
    assert trace.lengths().max_length == 55
    for bad in (1, 2.5, "many"):
        with pytest.raises(ValueError, match="max_length"):
            trace.cut(bad)


def test_closed_forms_and_curves_take_a_trace():
    lengths = plate_trace().lengths(2048)
    # A twentieth of the plate's cache, so that four thousand requests fill it.
    server = Server(cache_bytes=2.8e9)
    fits = capacity(server, Paged(), lengths)
    mean = lengths.cached_tokens_pmf() @ np.arange(2048)
    assert fits.requests == pytest.approx(server.capacity_tokens / mean, rel=0.05)
    curve = ttft_curve(server, Paged(), lengths, [1.0, 2.0], replications=2, duration_s=5)
    assert np.isfinite(curve.median_s).all()
    rate = sustained_rate(server, Paged(), lengths, replications=1, requests=1000)
    assert rate > 0


def test_a_trace_knows_its_content():
    trace = read_trace(HEADER + "0,1,2\n")
    assert trace.digest == read_trace(HEADER + '"0.0",1.0,2\n').digest
    assert trace.digest != read_trace(HEADER + "0,2,1\n").digest
    assert isinstance(trace, Trace)
    with pytest.raises(ValueError, match="read-only"):
        trace.arrival_s[0] = 1
