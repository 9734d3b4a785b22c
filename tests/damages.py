"""What happens to files: bits flip, bytes get lost or added, ends are cut off."""

from hypothesis import strategies as st

EDGE = 40  # bytes at either end, where formats keep what matters most


def places(length):
    """Positions in a file: anywhere, and as often near its ends."""
    return st.one_of(
        st.integers(0, length - 1),
        st.integers(0, min(EDGE, length) - 1),
        st.integers(max(0, length - EDGE), length - 1),
    )


def damages(length):
    """A kind of damage, where it is, and what else it needs, as ``change`` takes it."""
    return st.one_of(
        st.tuples(st.just("flip"), places(length), st.integers(0, 7)),
        st.tuples(st.just("cut"), places(length), st.just(0)),
        st.tuples(st.just("lose"), places(length), st.integers(1, 100)),
        st.tuples(st.just("add"), places(length), st.binary(min_size=1, max_size=20).map(list)),
        st.tuples(st.just("zero"), places(length), st.integers(1, 5000)),
        st.tuples(st.just("append"), st.just(0), st.binary(min_size=1, max_size=20).map(list)),
    )


def change(data, damage):
    """What it does: where it starts and stops in the file, and the bytes that are there instead."""
    kind, place, more = damage
    match kind:
        case "flip":
            return place, place + 1, bytes([data[place] ^ 1 << more])
        case "cut":
            return place, len(data), b""
        case "lose":
            return place, place + more, b""
        case "add":
            return place, place, bytes(more)
        case "zero":
            return place, place + more, bytes(len(data[place : place + more]))
        case "append":
            return len(data), len(data), bytes(more)


def damaged(data, damage):
    """The bytes after it."""
    start, stop, between = change(data, damage)
    return data[:start] + between + data[stop:]
