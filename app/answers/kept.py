"""Things that are kept while there is room: those used least recently go first."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class Kept(Generic[Thing]):
    """Things by name, of at most ``most_bytes`` together. Any thread may use it."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._things: OrderedDict[str, tuple[Thing, int]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._things)

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them."""
        return self._bytes

    def get(self, name: str) -> Thing | None:
        """Return one, which counts as a use, or None."""
        with self._lock:
            if name not in self._things:
                return None
            self._things.move_to_end(name)
            return self._things[name][0]

    def put(self, name: str, thing: Thing, size_bytes: int) -> None:
        """Keep one, in place of another of its name; one that is too large for all is not kept."""
        with self._lock:
            self._forget(name)
            if size_bytes > self._most_bytes:
                return
            self._things[name] = thing, size_bytes
            self._bytes += size_bytes
            while self._bytes > self._most_bytes:
                self._forget(next(iter(self._things)))

    def _forget(self, name: str) -> None:
        if name in self._things:
            self._bytes -= self._things.pop(name)[1]
