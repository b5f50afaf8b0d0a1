"""Word that came for a job, and what it is parked for, as `lua/shared/mail.lua` keeps it."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from struct import Struct
from typing import Final

_NAME: Final = Struct(">H")
_WORD: Final = Struct(">HI")


def pack_mail(awaits: str | None, mail: Mapping[str, bytes] | None) -> bytes | None:
    """None if there is nothing to keep."""
    if awaits is None and not mail:
        return None
    name = b"" if awaits is None else awaits.encode()
    packed = _NAME.pack(0 if awaits is None else len(name) + 1) + name
    for key, word in (mail or {}).items():
        raw = key.encode()
        packed += _WORD.pack(len(raw), len(word)) + raw + word
    return packed


def read_mail(raw: bytes | None) -> tuple[str | None, dict[str, bytes] | None]:
    """What the job awaits, and the words that came, if any did; nothing of what is damaged."""
    try:
        return (None, None) if raw is None else _read(raw)
    except (struct.error, UnicodeDecodeError):
        return None, None


def _read(raw: bytes) -> tuple[str | None, dict[str, bytes] | None]:
    (length,) = _NAME.unpack_from(raw)
    at = _NAME.size + max(length - 1, 0)
    awaits = raw[_NAME.size : at].decode() if length else None
    words: dict[str, bytes] = {}
    while at < len(raw):
        length, size = _WORD.unpack_from(raw, at)
        start = at + _WORD.size
        at = start + length + size
        words[raw[start : start + length].decode()] = raw[start + length : at]
    return awaits, words or None
