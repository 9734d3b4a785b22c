"""The frames of the figure of shared blocks, put together again as the page does it."""

import json
import re
from itertools import product

import pytest

from kvsim_app.languages import ENGLISH
from kvsim_app.sections import sharing_figure
from kvsim_app.sections.sharing_figure import (
    BLOCK_SIZE,
    BLOCKS,
    OWN_TOKENS,
    REGION_TOKENS,
    REGIONS,
    SAMPLES,
    SYSTEM_TOKENS,
)

FIGURE = json.loads(json.dumps(sharing_figure.described()))  # as the page gets it
STORIES = list(product((0, 1), (0, 1), SAMPLES))


class Shown:
    """Everything that is to be seen after a frame."""

    def __init__(self):
        self.blocks = [[0, 0, 0] for _ in range(BLOCKS)]
        self.tables = {}
        self.regions = [[None, 0] for _ in range(REGIONS)]

    def follow(self, frame):
        for number, *block in frame["blocks"]:
            assert block != self.blocks[number], "it has not changed"
            self.blocks[number] = block
        for name, blocks in frame["tables"].items():
            assert blocks != self.tables.get(name), "it has not changed"
            if blocks is None:
                del self.tables[name]
            else:
                self.tables[name] = blocks
        for number, *region in frame["regions"]:
            assert region != self.regions[number], "it has not changed"
            self.regions[number] = region

    def tokens(self, name):
        return sum(self.blocks[block][1] for block in self.tables[name])


@pytest.fixture(params=STORIES, ids=lambda story: "keep={},system={},samples={}".format(*story))
def story(request):
    """Its choices and frames, each frame with what is to be seen before it and after."""
    keep, system, samples = request.param
    return request.param, FIGURE["stories"][keep][system][samples - 1]


def seen(frames):
    """Each frame, with what is to be seen after it."""
    shown = Shown()
    for frame in frames:
        shown.follow(frame)
        yield frame, shown


def steps(frames, step):
    return [frame for frame in frames if frame["step"] == f"sharing_step_{step}"]


def prompt_tokens(request, system):
    return OWN_TOKENS[request] + system * SYSTEM_TOKENS


def test_counts_are_the_tables_that_hold_a_block(story):
    (keep, *_), frames = story
    for frame, shown in seen(frames):
        held = [block for blocks in shown.tables.values() for block in blocks]
        for number, (count, filled, kept) in enumerate(shown.blocks):
            assert count == held.count(number)
            assert 0 <= filled <= BLOCK_SIZE
            assert kept == (count == 0 and filled > 0)
            assert keep or not kept
            assert not kept or filled == BLOCK_SIZE
        assert frame["used"] == len(set(held))
        assert frame["unshared"] == len(held)


def test_a_block_that_is_written_has_one_table_before_and_after(story):
    _, frames = story
    before = Shown()
    for frame, shown in seen(frames):
        writes = [block for kind, block, *_ in frame["events"] if kind == "write"]
        copies = {block: source for kind, block, *rest in frame["events"] for source in rest}
        for block in writes:
            assert shown.blocks[block][0] == 1
            # Others that held it have got copies.
            assert before.blocks[block][0] in (0, 1) or block in copies.values()
        for block, source in copies.items():
            assert before.blocks[source][0] > 1
            assert before.blocks[block][0] == 0
        before.follow(frame)


def test_the_first_writers_copy_and_the_last_writes_in_place(story):
    (_, system, samples), frames = story
    copies = steps(frames, "copy")
    assert [frame["values"]["sample"] for frame in copies] == [f"A{k}" for k in range(1, samples)]
    assert [frame["values"]["holders"] for frame in copies] == list(range(samples, 1, -1))
    in_place = steps(frames, "in_place")
    assert in_place[0]["values"] == {"sample": f"A{samples}"}
    last = prompt_tokens("A", system) // BLOCK_SIZE
    assert in_place[0]["blocks"] == [[last, 1, prompt_tokens("A", system) % BLOCK_SIZE + 1, 0]]
    (forked,) = steps(frames, "copies") or [None]
    assert (forked["values"]["copies"] if forked else 0) == samples - 1


def test_a_fork_takes_no_block(story):
    (_, _, samples), frames = story
    forks = steps(frames, "fork")
    assert len(forks) == 2 * (samples > 1)
    for frame in forks:
        assert frame["values"]["samples"] == samples
        assert {kind for kind, *_ in frame["events"]} == {"share"}


def test_the_system_prompt_is_held_once(story):
    (keep, system, samples), frames = story
    arrivals = steps(frames, "arrive") + steps(frames, "arrive_shared")
    found = {frame["values"]["request"]: frame["values"].get("found", 0) for frame in arrivals}
    assert found == {
        "A": 0,
        "B": SYSTEM_TOKENS * system,
        "C": SYSTEM_TOKENS * (system and keep),  # the others have ended by then
    }
    for frame in arrivals:
        request = frame["values"]["request"]
        assert frame["values"]["prompt"] == prompt_tokens(request, system)
    if system:
        most = max(shown.blocks[0][0] for _, shown in seen(frames))
        assert most == 2 * samples


def test_blocks_are_given_back_when_nobody_holds_them(story):
    (keep, system, samples), frames = story
    before = Shown()
    for frame, shown in seen(frames[:-1]):  # in the last one a third request arrives
        if frame["step"].startswith("sharing_step_end"):
            left = {
                block
                for name in set(before.tables) - set(shown.tables)
                for block in before.tables[name]
            }
            values = frame["values"]
            assert values["freed"] == sum(shown.blocks[block][0] == 0 for block in left)
            assert values["held"] == len(left) - values["freed"]
            assert values["kept"] == sum(shown.blocks[block][2] for block in left)
            gone = [block for kind, block, *_ in frame["events"] if kind in ("free", "keep")]
            assert len(gone) == len(set(gone)) == values["freed"]
        before.follow(frame)
    assert len(steps(frames, "end")) == samples + (samples == 1)
    assert not before.tables
    assert all(count == 0 for count, _, _ in before.blocks)
    # The full blocks of A's prompt, the system prompt's first, are kept or all empty.
    full = range(prompt_tokens("A", system) // BLOCK_SIZE)
    assert [before.blocks[block] for block in full] == [[0, BLOCK_SIZE * keep, keep]] * len(full)


def test_contiguous_regions_hold_whom_they_can(story):
    (_, _, samples), frames = story
    had = {}
    for frame, shown in seen(frames):
        names = [name for name, _ in shown.regions if name]
        assert sorted(names + frame["waiting"]) == sorted(shown.tables)
        assert not frame["waiting"] or len(names) == REGIONS
        for number, (name, tokens) in enumerate(shown.regions):
            if name:
                assert tokens == shown.tokens(name) <= REGION_TOKENS
                assert had.setdefault(name, number) == number, "it has moved"
    most = max(len(frame["waiting"]) for frame in frames)
    assert most == max(0, 2 * samples - REGIONS)


def test_both_have_the_same_memory():
    assert REGIONS * REGION_TOKENS == BLOCKS * BLOCK_SIZE
    assert FIGURE["regions"] * FIGURE["region_tokens"] == FIGURE["blocks"] * FIGURE["block_size"]


def test_every_sentence_has_its_values_and_every_value_its_place(story):
    _, frames = story
    for frame in frames:
        template = ENGLISH[frame["step"]]
        assert set(re.findall(r"\{(\w+)\}", template)) == set(frame["values"])
        assert "{" not in sharing_figure.sentence(frame)


def test_every_sentence_is_told_somewhere():
    told = {
        frame["step"]
        for keep, system, samples in STORIES
        for frame in FIGURE["stories"][keep][system][samples - 1]
    }
    assert told == {name for name in ENGLISH if name.startswith("sharing_step_")} - {
        "sharing_step_of"  # the number of a step
    }


def test_three_samples_with_a_system_prompt_in_figures():
    """Worked out by hand: 14 and 13 prompt tokens in blocks of 4, three output tokens for A."""
    frames = FIGURE["stories"][1][1][2]
    assert [frame["used"] for frame in frames] == [
        *(0, 4, 4, 5, 6, 6, 6, 9),  # empty, A, its fork, two copies, in place, room, new blocks
        *(11, 11, 13),  # B takes two beyond the system prompt's, its fork, two copies
        *(11, 9, 6, 0, 3),  # A's samples end, B's, and C finds the system prompt kept
    ]
    assert sharing_figure.sentence(frames[3]) == (
        "A1 writes its first token. 3 tables hold the last block, so A1 gets a copy of it and "
        "writes there."
    )
