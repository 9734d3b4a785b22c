"""A pasted log as one text to search in: no colours, quoting, wraps or spaces, but line numbers.

Terminals wrap lines anywhere, also within words and figures, and what is pasted keeps the breaks.
So white space is dropped altogether, and a break is kept only where one message ends for certain.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from kvsim.logs.forms import KEYS

MAX_LOG_BYTES = 1_000_000

# Colours and cursor moves: with the escape character, with what editors show in its place, and
# bare colours, as some pages drop it. No repetition is unbounded: the time stays linear.
_ESCAPES = re.compile(
    r"(?:\x1b|\u241b|\^\[|\\x1b|\\u001b|\\033)\[[0-9;?]{0,20}+[A-Za-z]|\[[0-9]{1,3}(?:;[0-9]{1,3}){0,4}m",
    re.IGNORECASE,
)
_QUOTING = re.compile(r"(?:\s{0,8}+>){1,8}+ ?")
# What a message of its own begins with: a level or a time, after a worker's name perhaps.
_MESSAGE = re.compile(
    r"\b(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b|\d\d:\d\d:\d\d"
    r"|^\s{0,8}+(?:\([A-Za-z][\w ]{0,60}pid=|\[20\d\d-|\[gpu_id=)"
)
_SETTING = re.compile(
    rf"\s{{0,40}}+['\"]?(?:--(?:{'|'.join(KEYS)})|(?:{'|'.join(KEYS)})['\"]?\s?[=:])", re.IGNORECASE
)
_HEAD = 120  # characters in which the beginning of a message is looked for
_NARROWEST = 40  # columns of the narrowest terminal whose wraps are undone within figures
_WORKER = re.compile(
    r"\((?P<process>[A-Za-z]\w{0,60}+)(?: (?P<rank>(?:rank=|[DTPE]P)\d{1,6}+))?+[ ,][^()\n]{0,40}?"
    r"pid=(?P<pid>\d{1,12}+)"
    r"|\[[^\]\n]{0,40}?(?P<ranks>(?:\b[DTPE]P\d{1,4}+ ?+){1,4}+)\]"
)


@dataclass(frozen=True, eq=False)
class LogText:
    """``packed`` is the text without white space; ``lines`` are the cleaned lines."""

    lines: tuple[str, ...]
    packed: str
    _starts: tuple[int, ...]  # where each line starts in ``packed``
    _messages: tuple[int, ...]  # lines that begin a message

    def line_at(self, position: int) -> int:
        """Number, from 1, of the line that a position of ``packed`` lies in."""
        return bisect_right(self._starts, position)

    def worker_at(self, position: int) -> str:
        """Name of the process that printed a position of ``packed``; empty if none is given."""
        line = self.line_at(position) - 1
        place = bisect_right(self._messages, line) - 1
        head = self.lines[self._messages[place] if place >= 0 else line][:_HEAD]
        found = _WORKER.search(head)
        if not found:
            return ""
        if found["ranks"]:
            return found["ranks"].strip()
        # A process with a number in its name is the same one after a restart.
        name = " ".join(part for part in (found["process"], found["rank"]) if part)
        numbered = name[-1].isdigit() or name.startswith("EngineCore")
        return name if numbered else f"{name} pid={found['pid']}"

    def quote(self, line: int) -> str:
        """Return the beginning of a line, by its number, to be shown."""
        text = "".join(c if c.isprintable() else " " for c in self.lines[line - 1][:400]).strip()
        return text if len(text) <= 100 else text[:99] + "…"


def log_text(pasted: str | bytes) -> LogText:
    """Return what was pasted as a text to search in.

    Bytes are read as UTF-8, or UTF-16 if they start with its mark, as PowerShell writes it; what
    is neither becomes replacement characters. Raises ``ValueError`` beyond ``MAX_LOG_BYTES``.
    """
    if isinstance(pasted, bytes):
        size = len(pasted)
    else:
        # Most texts need not be encoded to know that they are short enough.
        size = len(pasted) if len(pasted) > MAX_LOG_BYTES else _encoded_bytes(pasted)
    if size > MAX_LOG_BYTES:
        raise ValueError(
            f"The log is larger than {MAX_LOG_BYTES:,} bytes, which are the most: give the lines "
            "from a server's start-up."
        )
    text = _decoded(pasted) if isinstance(pasted, bytes) else pasted
    text = _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = [
        _QUOTING.sub("", line, count=1) if ">" in line[:9] else line for line in text.split("\n")
    ]
    return _packed(lines)


def _encoded_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _decoded(data: bytes) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return data.decode(encoding, "replace")


def _packed(lines: list[str]) -> LogText:
    pieces: list[str] = []
    starts: list[int] = []
    messages: list[int] = []
    position = 0
    last = ""  # the line before, without white space
    before = 0  # columns of the line before
    for number, line in enumerate(lines):
        piece = "".join(line.split())
        begins = bool(piece) and _MESSAGE.search(line[:_HEAD]) is not None
        if begins:
            messages.append(number)
        if position and (begins or not piece or not last or _parts(last, piece, before, line)):
            pieces.append("\n")
            position += 1
        starts.append(position)
        pieces.append(piece)
        position += len(piece)
        last, before = piece, len(line)
    return LogText(tuple(lines), "".join(pieces), tuple(starts), tuple(messages))


def _parts(last: str, piece: str, columns: int, line: str) -> bool:
    """Tell whether a break parts two figures or settings, which a terminal's wrap never does.

    A terminal breaks lines that fill it, so what follows a wrap is no longer than what is before.
    """
    if piece[0].isdigit() and (last[-1].isdigit() or last[-1] in ",."):
        return columns < max(_NARROWEST, len(line))
    return last[-1] not in "-_" and _SETTING.match(line) is not None
