"""The results on sharing: of this code, whole, and the same when some of them are made again."""

import numpy as np
import pytest

import kvsim
from kvsim_app.results import sharing_results
from kvsim_app.results.container import ResultsError
from kvsim_app.results.files import SHARING
from kvsim_app.results.sharing_results import (
    AXES,
    ROOTS,
    SERVER,
    WAYS,
    capacities,
    load,
    minutes,
    own_lengths,
    sustained,
    to_bytes,
)
from kvsim_app.sections import sharing_figure

STALE = "the results on sharing are stale: build them again with `kvsim atlas`"


@pytest.fixture(scope="module")
def kept():
    return load(SHARING)


def at(**values):
    """The place of some values on their axes, in the order given."""
    return tuple(AXES[name].index(value) for name, value in values.items())


def test_the_file_is_of_this_code(kept):
    assert kept.header["fingerprint"] == sharing_results.current_fingerprint(), STALE
    assert kept.header["story"] == sharing_figure.described(), STALE
    assert kept.header["axes"] == AXES
    assert kept.header["ways"] == list(WAYS)


def test_every_position_is_there(kept):
    block, length, samples, systems, rates = (len(axis) for axis in AXES.values())
    assert {name: array.shape for name, array in kept.arrays.items()} == {
        "contiguous_prompts": (length, samples),
        "alone_prompts": (block, length, samples, systems),
        "shared_prompts": (block, length, samples, systems),
        "sustained": (4, samples, systems),
        "ttft": (4, samples, systems, rates),
        "found": (4, samples, systems, rates),
    }
    for name in ("sustained", "ttft"):
        assert (kept.arrays[name] > 0).all()
    for way in ("contiguous", "off"):
        assert not kept.arrays["found"][list(WAYS).index(way)].any()


def test_there_is_no_room_where_the_system_prompt_is_as_long_as_everything(kept):
    missing = {
        (length, system)
        for length in AXES["max_length"]
        for system in AXES["system_tokens"]
        if system + 2 > length
    }
    assert missing == {(1024, 1024), (1024, 2048), (1024, 4096), (2048, 2048)} | {
        (2048, 4096),
        (4096, 4096),
    }
    for name in ("alone_prompts", "shared_prompts"):
        for length in AXES["max_length"]:
            for system in AXES["system_tokens"]:
                _, row = at(block_size=1, max_length=length)
                column = AXES["system_tokens"].index(system)
                absent = np.isnan(kept.arrays[name][:, row, :, column])
                assert (absent == ((length, system) in missing)).all()


@pytest.mark.parametrize(("max_length", "system"), [(8192, 512), (2048, 1024), (1024, 1024)])
def test_prompts_that_fit_are_the_closed_forms(kept, max_length, system):
    again = capacities(max_length, system)
    _, length = at(block_size=1, max_length=max_length)
    for name, array in again.items():
        found = kept.arrays[name][:, length, :, AXES["system_tokens"].index(system)]
        np.testing.assert_allclose(found, array, rtol=1e-5, err_msg=STALE)
    if system < max_length:
        fits = kvsim.shared_capacity(
            SERVER, kvsim.Paged(16), own_lengths(max_length, system), 3, system
        )
        block, samples = at(block_size=16, samples=3)
        assert again["shared_prompts"][block, samples] == pytest.approx(fits.prompts)
        # What the page says is saved follows from the two.
        saved = 1 - again["alone_prompts"][block, samples] / again["shared_prompts"][block, samples]
        assert saved == pytest.approx(fits.saved_share, rel=1e-5)


def test_regions_hold_one_sample_each(kept):
    lengths = AXES["max_length"]
    for length in lengths:
        exact = kvsim.capacity(SERVER, kvsim.Contiguous(length), own_lengths(length, 0)).requests
        for samples in AXES["samples"]:
            found = kept.arrays["contiguous_prompts"][at(max_length=length, samples=samples)]
            assert found == pytest.approx(exact / samples)


@pytest.mark.parametrize(("samples", "system"), [(1, 4096), (5, 64)])
def test_a_position_simulated_again_gives_what_is_kept(kept, samples, system):
    here = at(samples=samples, system_tokens=system)
    np.testing.assert_allclose(
        kept.arrays["sustained"][:, *here], sustained(samples, system), rtol=1e-5, err_msg=STALE
    )
    for name, array in minutes(samples, system).items():
        np.testing.assert_allclose(
            kept.arrays[name][:, *here], array, rtol=1e-5, atol=1e-7, err_msg=STALE
        )


def test_keeping_prefixes_shows_where_nobody_holds_them(kept):
    ways = list(WAYS)
    running, kept_found = (
        kept.arrays["found"][ways.index(way), 0, -1] for way in ("running", "kept")
    )
    assert kept_found[0] > 2 * running[0]
    assert kept_found[-1] == pytest.approx(running[-1], rel=0.01)
    ttft = kept.arrays["ttft"][:, 0, -1, 0]
    assert ttft[ways.index("kept")] < ttft[ways.index("running")] / 3


def test_the_fingerprint_is_of_what_is_simulated(monkeypatch):
    before = sharing_results.current_fingerprint()
    assert "shared_capacity" in ROOTS
    monkeypatch.setattr(sharing_results, "REPLICATIONS", 5)
    assert sharing_results.current_fingerprint() != before


def test_what_is_written_is_read_back(kept, tmp_path):
    path = tmp_path / "sharing.bin"
    path.write_bytes(to_bytes(kept.arrays))
    assert path.read_bytes() == SHARING.read_bytes(), STALE
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(ResultsError, match="damaged"):
        load(path)
    with pytest.raises(ResultsError, match="cannot be read"):
        load(tmp_path / "none.bin")


def test_results_of_other_code_are_refused(monkeypatch):
    monkeypatch.setattr(sharing_results, "current_fingerprint", lambda: "of other code")
    with pytest.raises(ResultsError, match="other model code"):
        load(SHARING)
