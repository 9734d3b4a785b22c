"""Every file of results, damaged anywhere: refused with a sentence, or still the same."""

import pytest
from damages import damaged, damages
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kvsim_app.results import overcommit_results, paper_store, sharing_results
from kvsim_app.results.atlas import load
from kvsim_app.results.container import ResultsError, read_current, unpack
from kvsim_app.results.files import ATLASES, FILMS, OVERCOMMIT, PAPER, SHARING

# By whom these are read.
CHECKED = {
    FILMS.name: lambda path: read_current(path, load(ATLASES["exponential"]).fingerprint),
    OVERCOMMIT.name: overcommit_results.load,
    SHARING.name: sharing_results.load,
}
TRIED = 50  # damages of each file
FILES = {path.name: path for path in (*ATLASES.values(), FILMS, PAPER, OVERCOMMIT, SHARING)}


def content(path):
    """What is read from a file, in a form to compare; raises ``ResultsError``."""
    if path.name == PAPER.name:
        return paper_store.to_bytes(paper_store.load(path))
    if path.name in CHECKED:
        CHECKED[path.name](path)
        header, arrays = unpack(path.read_bytes())
        return str(header), {name: array.tobytes() for name, array in arrays.items()}
    atlas = load(path)
    arrays = {name: (array.shape, array.tobytes()) for name, array in atlas.arrays.items()}
    return atlas.fingerprint, str(atlas.axes), str(atlas.constants), arrays


@pytest.mark.parametrize("name", FILES)
def test_no_damage_gives_a_wrong_number(name, tmp_path_factory):
    whole = FILES[name].read_bytes()
    wanted = content(FILES[name])
    path = tmp_path_factory.mktemp("damaged") / name

    @settings(max_examples=TRIED)
    @given(damages(len(whole)))
    @example(("append", 0, [10]))
    @example(("cut", 0, 0))
    @example(("cut", len(whole) - 1, 0))
    def check(damage):
        path.write_bytes(damaged(whole, damage))
        try:
            found = content(path)
        except ResultsError as error:
            sentence = str(error)
            assert "`kvsim atlas`" in sentence
            assert sentence.endswith(".")
            assert "\n" not in sentence
        else:
            # As when a line break is added to JSON.
            assert found == wanted

    check()


@settings(max_examples=300)
@given(st.binary(max_size=2000))
def test_any_bytes_are_refused_with_a_sentence(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data)
    for read in (load, paper_store.load, lambda path: read_current(path, "")):
        with pytest.raises(ResultsError, match=r"^[^\n]+`kvsim atlas`\.$"):
            read(path)
