"""The section on sharing in words: numbers are the results', and every case has its sentence."""

import math
from itertools import product

import pytest

import kvsim
from kvsim_app import words
from kvsim_app.results.files import SHARING
from kvsim_app.results.sharing_results import SERVER, load, own_lengths
from kvsim_app.sections.controls import Sharing
from kvsim_app.sections.sharing_words import most_prompts, read, sharing_words
from kvsim_app.settings import Settings

RESULTS = load(SHARING)


def words_at(workshop=None, **section):
    return sharing_words(read(RESULTS, Settings(**(workshop or {})), Sharing(**section)))


def test_what_fits_is_what_kvsim_says():
    reading = read(RESULTS, Settings(block_size=32, max_length=4096), Sharing(samples=3))
    fits = kvsim.shared_capacity(SERVER, kvsim.Paged(32), own_lengths(4096, 512), 3, 512)
    assert reading.prompts["shared"] == pytest.approx(fits.prompts, rel=1e-5)
    assert reading.prompts["alone"] == pytest.approx(fits.prompts_alone, rel=1e-5)
    assert reading.saved == pytest.approx(fits.saved_share, rel=1e-5)
    assert reading.prompts["contiguous"] == pytest.approx(SERVER.capacity_tokens // 4096 / 3)
    known = sharing_words(reading)
    assert known["shared_prompts"] == words.significant(fits.prompts)
    assert known["saved"] == words.percent(fits.saved_share)
    assert known["more"] == words.significant(fits.prompts / fits.prompts_alone)


def test_the_switch_chooses_what_the_last_column_shows():
    off, on = (words_at(keep_prefixes=keep, system_tokens=4096) for keep in (0, 1))
    assert off["switched"] != on["switched"]
    assert (off["shared_ttft"], on["shared_ttft"]) == (off["running_ttft"], off["kept_ttft"])
    assert (off["shared_found"], on["shared_found"]) == (on["running_found"], on["kept_found"])
    assert off["keeping"] == on["keeping"]


def test_each_case_has_a_sentence_of_its_own():
    assert "3.4 times" in words_at()["finding"]
    nothing = words_at(samples=1, system_tokens=0)
    assert "no whole block to share" in nothing["finding"]
    assert nothing["saved"] == words.percent(0)
    full = words_at({"max_length": 1024}, system_tokens=1024)
    assert "leaves no room" in full["finding"]
    for key in ("contiguous_prompts", "alone_prompts", "shared_prompts", "saved"):
        assert full[key] == words.fill("sharing_none")
    assert "hardly changes" in words_at(prompt_rate=32)["keeping"]
    assert "hardly changes" not in words_at(prompt_rate=0.25, system_tokens=4096)["keeping"]


def test_no_position_lacks_a_word():
    for length, system, samples, rate in product((1024, 8192), (0, 1024), (1, 8), (0.25, 8)):
        known = words_at(
            {"max_length": length}, system_tokens=system, samples=samples, prompt_rate=rate
        )
        assert all("nan" not in text and "{" not in text for text in known.values())


def test_the_scale_of_the_bars_has_room_for_all():
    for workshop in (Settings(), Settings(block_size=256, max_length=1024)):
        most = most_prompts(RESULTS, workshop)
        assert most % 100 == 0
        fitting = [
            read(RESULTS, workshop, Sharing(samples=n, system_tokens=s)).prompts["shared"]
            for n in (1, 8)
            for s in (0, 64, 512, 4096)
        ]
        assert most - 100 < max(each for each in fitting if not math.isnan(each)) * 1.2
        assert all(each <= most for each in fitting if not math.isnan(each))
