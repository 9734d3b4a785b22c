"""Links, read in Python: whatever is asked for is had, or refused in one sentence."""

from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvsim_app import link
from kvsim_app.settings import Settings, choices

PARTS = ("workshop", "cache", "essay")
KEYS = [choice.key for _, choice in choices()]
VIEWS = st.fixed_dictionaries(
    {},
    optional={
        "embed": st.just("1"),
        "theme": st.sampled_from(["light", "dark"]),
        "show": st.lists(st.sampled_from(PARTS), min_size=1).map(",".join),
        "hide": st.lists(st.sampled_from(KEYS), min_size=1).map(",".join),
    },
)
POSITIONS = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(choice.objects) for name, choice in choices()}
)


@given(POSITIONS, VIEWS, st.sampled_from(["", "?", "https://a.example/b/?", "plate.html?"]))
def test_what_is_offered_is_had(position, view, start):
    query = {
        choice.key: choice.spell(position[name]) for name, choice in choices() if name in position
    }
    found = link.read(f"{start}{urlencode(query | view)}", PARTS)
    wanted = Settings(**position)
    for name, _ in choices():
        assert getattr(found.settings, name) == getattr(wanted, name)
    assert found.view == view
    assert link.read(found.view_query, PARTS).view == view
    assert link.read_view(found.view_query, PARTS) == found.view_query


@given(
    st.one_of(
        st.text(),
        st.builds(
            "{}={}&{}={}".format,
            *[st.sampled_from([*KEYS, *link.VIEW_KEYS, "x"]), st.text().map(quote)] * 2,
        ),
    )
)
def test_anything_else_is_refused_in_a_sentence(text):
    for read in (link.read, link.read_view):
        try:
            read(text, PARTS)
        except ValueError as error:
            sentence = str(error)
            assert sentence.endswith(".")
            assert "\n" not in sentence
            assert len(sentence) < 300


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("rate=41", ["rate", "'41'", "1 to 40"]),
        ("colour=red", ["'colour'", "block", "theme"]),
        ("rate=3&rate=4", ["'rate'", "twice"]),
        ("embed=yes", ["embed", "'yes'", "1"]),
        ("theme=sepia", ["theme", "'sepia'", "light or dark"]),
        ("show=cache,notes", ["show", "'notes'", "workshop, cache, essay"]),
        ("hide=cache", ["hide", "'cache'", "block, maxlen"]),
        ("show=", ["show", "''"]),
        ("https://[/?rate=3", ["cannot be read"]),
        ("block=" + "9" * 1000, ["block", "9" * 20]),
    ],
)
def test_the_first_thing_wrong_is_named(text, named):
    with pytest.raises(ValueError, match=r"\.$") as refused:
        link.read(text, PARTS)
    for words in named:
        assert words in str(refused.value)
