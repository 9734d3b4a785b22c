"""What is kept while there is room."""

from hypothesis import given
from hypothesis import strategies as st

from kvsim_app.answers.kept import Kept

MOST = 100
USES = st.lists(st.tuples(st.sampled_from("abcdef"), st.none() | st.integers(0, 130)))


@given(USES)
def test_it_holds_the_last_used_of_no_more_than_its_room(uses):
    kept, order, sizes = Kept(MOST), [], {}
    for name, size in uses:
        if size is None:
            found = kept.get(name)
            assert (found is not None) == (name in order)
            if found is not None:
                assert found == [name, sizes[name]]
                order.remove(name)
                order.append(name)
            continue
        kept.put(name, [name, size], size)
        if name in order:
            order.remove(name)
        if size <= MOST:
            order.append(name)
            sizes[name] = size
            while sum(sizes[each] for each in order) > MOST:
                order.pop(0)
        assert kept.size_bytes == sum(sizes[each] for each in order)
        assert len(kept) == len(order)
