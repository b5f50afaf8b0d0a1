"""What was typed, as the names of keys. Pure: bytes of the terminal in, names out."""

from __future__ import annotations

import codecs
import re
from typing import Final

NAMED: Final = {
    "\t": "tab",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\b": "backspace",
    "\x03": "ctrl-c",
    "\x04": "ctrl-d",
    "\x0c": "ctrl-l",
    "\x15": "ctrl-u",
}

SEQUENCES: Final = {
    "A": "up",
    "B": "down",
    "C": "right",
    "D": "left",
    "H": "home",
    "F": "end",
    "Z": "backtab",
    "1~": "home",
    "4~": "end",
    "5~": "pageup",
    "6~": "pagedown",
    "7~": "home",
    "8~": "end",
}
"""What follows `ESC [` or `ESC O`, on every kind of terminal that is still about."""

_SEQUENCE: Final = re.compile(r"\x1b[\[O]([0-?]*)([ -/]*[@-~])")
_BEGUN: Final = re.compile(r"\x1b(?:[\[O][0-?]*[ -/]*)?")
LONGEST: Final = 32
"""No sequence is longer; what looks like the beginning of one is none."""


class Keys:
    """Takes what was read, piece by piece: the bytes of a key may come in several."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""

    @property
    def is_pending(self) -> bool:
        """Whether there is a beginning that may be the escape key by itself: see `flush`."""
        return bool(self._rest)

    def feed(self, data: bytes) -> list[str]:
        """The keys that are complete. A sequence that stands for no key here is dropped."""
        text, self._rest = self._rest + self._decode(data), ""
        found: list[str] = []
        while text:
            if text[0] != "\x1b":
                found += _letter(text[0])
                text = text[1:]
                continue
            match = _SEQUENCE.match(text)
            if match is not None:
                found += _named(match)
                text = text[match.end() :]
            elif _BEGUN.fullmatch(text) and len(text) <= LONGEST:
                self._rest = text
                break
            else:
                found.append("escape")
                text = text[1:]
        return found

    def flush(self) -> list[str]:
        """What the beginning was after all, since nothing followed."""
        rest, self._rest = self._rest, ""
        return ["escape"] if rest else []


def _letter(letter: str) -> list[str]:
    if letter in NAMED:
        return [NAMED[letter]]
    return [letter] if letter.isprintable() else []


def _named(match: re.Match[str]) -> list[str]:
    # Shift and its kin come as a second number, and do not matter here.
    number, final = match[1].partition(";")[0], match[2]
    name = SEQUENCES.get(number + final if final == "~" else final)
    return [] if name is None else [name]
