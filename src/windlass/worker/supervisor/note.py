"""What a worker process tells its supervisor: one JSON object on a line of a socket.

The supervisor says nothing. It closes its side when the process is to stop, and the kernel
does so if the supervisor is killed: both look the same from here, and mean the same.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from .sources import SourceFile

VARIABLE: Final = "WINDLASS_TETHER"
"""Names the socket's number to the process. Not WINDLASS_WORKER_…: those are settings."""


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that the supervisor should know."""

    kind: Literal["ready", "due", "refused", "files", "figures", "dismissed"]
    text: str = ""
    """why it is due to be replaced, why it cannot start, or why it is not ready"""
    files: tuple[SourceFile, ...] = ()
    """source files that it has loaded, as they were then"""
    figures: bytes = b""
    """what it has counted since it started"""


def encode(note: Note) -> bytes:
    return msgspec.json.encode(note) + b"\n"


def decode(line: bytes) -> Note:
    return msgspec.json.decode(line, type=Note)
