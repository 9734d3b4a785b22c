"""What a full block holds, as a key: equal keys mean equal tokens after an equal beginning.

A key is the SHA-256 of the key of the block before it and of the block's own token ids, so that it
stands for everything from the first token on. Before the first block stands the salt (the tenant,
or the adapter, that must not share with others). Python's own ``hash`` would not do: it differs
from one process to the next, and two contents may have the same.
"""

from array import array
from collections.abc import Iterable, Sequence
from hashlib import sha256
from numbers import Integral

from kvsim.kinds import shown

Key = bytes


def token_ids(tokens: Iterable[int]) -> list[int]:
    """Return token ids as a list of ints. Raises ``ValueError`` if it is none."""
    try:
        each = iter(tokens)
    except TypeError:  # an array of no dimension has __iter__, too
        raise ValueError(f"tokens is {shown(tokens)}: it must be a list of token ids.") from None
    return [_token_id(token) for token in each]


def _token_id(token: object) -> int:
    if not isinstance(token, bool) and isinstance(token, Integral) and 0 <= int(token) < 2**63:
        return int(token)
    raise ValueError(
        f"A token is {shown(token)}: token ids must be whole numbers from 0 to 2**63 - 1."
    )


def first_key(salt: str) -> Key:
    """Return what stands before the first block. Raises ``ValueError`` if ``salt`` is no text."""
    if not isinstance(salt, str):
        raise ValueError(f"salt is {shown(salt)}: it must be a text.")
    return sha256(salt.encode("utf-8", "surrogatepass")).digest()


def next_key(before: Key, tokens: Sequence[int]) -> Key:
    """Return the key of a full block of ``tokens`` that follows the block of key ``before``."""
    return sha256(before + array("q", tokens).tobytes()).digest()


def chain(tokens: Sequence[int], block_size: int, salt: str) -> list[Key]:
    """Return the keys of all full blocks of a sequence, in order."""
    keys, key = [], first_key(salt)
    for end in range(block_size, len(tokens) + 1, block_size):
        key = next_key(key, tokens[end - block_size : end])
        keys.append(key)
    return keys
