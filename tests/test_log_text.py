"""Reading a log takes a number of steps that grows as its length does, whatever is in it."""

import re
import sys
from re import _constants as ops
from re import _parser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvsim import read_log
from kvsim.logs.forms import FORMS, HINT
from kvsim.logs.remarks import remarks
from kvsim.logs.text import _ESCAPES, _MESSAGE, _QUOTING, _SETTING, _WORKER, MAX_LOG_BYTES, log_text

PATTERNS = {form.name: form.pattern for form in FORMS} | {
    "hint": HINT,
    "escapes": _ESCAPES,
    "message": _MESSAGE,
    "quoting": _QUOTING,
    "setting": _SETTING,
    "worker": _WORKER,
}
HOSTILE = {
    "digits": "1",
    "groups": "1,234",
    "hints": "KV cache size: ",
    "caches": "kvcache",
    "names": "model='",
    "breaks": "\n",
    "spaces": "  \n",
    "escapes": "\x1b[1;",
    "colours": "[1;2;3",
    "quotes": "> ",
    "parentheses": "(a",
    "brackets": "[TP0 ",
    "refusals": "max seq len (1), (",
    "engines": "Initializing a V1 LLM engine (v1.2.3 ",
    "memory": "Available KV cache memory: 1 GiB\nGPU KV cache size: 16 tokens\n",
    "measured": "Available KV cache memory: 1 GiB\n",
    "starts": "# GPU blocks: 5\nMaximum concurrency for 6 tokens per request: 1.2x\n"
    "Maximum concurrency for 7 tokens per request: 1.2x\n",
    "pools": "[x TP0] KV Cache is allocated. #tokens: 5\n",
    "settings": "max_model_len=1\n",
}


def steps(pattern):
    """Most steps that a try at one place of the text may take, by the pattern's structure.

    A repetition that may give back multiplies what follows it; one that does not only adds.
    """

    def cost(items):
        total, ways = 1, 1
        for op, value in items:
            here, choices = 1, 1
            if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
                least, most, inner = value
                assert most is not ops.MAXREPEAT, "an unbounded repetition"
                inner_total, inner_ways = cost(inner)
                here = most * inner_total
                if op is not ops.POSSESSIVE_REPEAT:
                    choices = (most - least + 1) * inner_ways
            elif op is ops.BRANCH:
                costs = [cost(branch) for branch in value[1]]
                here, choices = sum(c for c, _ in costs), sum(w for _, w in costs)
            elif op is ops.SUBPATTERN:
                here, choices = cost(value[-1])
            elif op in (ops.ASSERT, ops.ASSERT_NOT):
                here = cost(value[1])[0]
            total += ways * here
            ways *= choices
        return total, ways

    return cost(_parser.parse(pattern.pattern, pattern.flags))[0]


@pytest.mark.parametrize("name", PATTERNS)
def test_no_pattern_may_take_many_steps_at_a_place(name):
    """So searching a text takes that many for each of its characters at most."""
    assert steps(PATTERNS[name]) < 20_000


def test_catastrophic_patterns_would_be_found():
    assert steps(re.compile(r"(?:a{1,9}){1,9}b{1,9}")) > 700
    with pytest.raises(AssertionError, match="unbounded"):
        steps(re.compile("(a+)+b"))


def calls(text):
    """Functions that are called, Python's own included, while a text is read."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        remarks(read_log(text))
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", HOSTILE)
def test_four_times_the_text_takes_four_times_the_steps(name):
    piece = HOSTILE[name]
    count = 4000 // len(piece)
    little, much = calls(piece * count), calls(piece * 4 * count)
    assert much <= 4.5 * little + 500


def test_a_megabyte_of_what_takes_longest_is_read():
    """Every few characters something is found; and each character is in it once."""
    piece = HOSTILE["names"]
    text = (piece * (MAX_LOG_BYTES // len(piece) + 1))[:MAX_LOG_BYTES]
    log = read_log(text)
    assert len(log.run.events) <= MAX_LOG_BYTES // len(piece)
    assert remarks(log)


@given(st.text(alphabet="a1 ,.>\n\r[(:", max_size=80))
def test_nothing_but_white_space_colours_and_quoting_is_lost(text):
    packed = log_text(text).packed.replace("\n", "")
    kept = re.sub(r"(?m)^[\s>]*", "", text.replace("\r\n", "\n").replace("\r", "\n"))
    assert packed.replace(">", "") == "".join(kept.split()).replace(">", "")


@given(st.lists(st.text(alphabet="ab:9", min_size=1, max_size=60), min_size=1, max_size=9))
def test_positions_know_their_lines(lines):
    text = log_text("\n".join(lines))
    place = 0
    for number, line in enumerate(lines, 1):
        place = text.packed.index(line, place)
        assert text.line_at(place) == text.line_at(place + len(line) - 1) == number
        place += len(line)
