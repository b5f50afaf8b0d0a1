"""What a worker process tells its supervisor: one JSON object on a line of a socket.

The supervisor says which other processes have died; nothing else. It closes its side when the
process is to stop, and the kernel does so if the supervisor is killed: both look the same from
here, and mean the same.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from .sources import SourceFile

VARIABLE: Final = "WINDLASS_TETHER"
"""Names the socket's number to the process. Not WINDLASS_WORKER_…: those are settings."""


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that the supervisor should know."""

    kind: Literal[
        "ready", "alive", "due", "refused", "files", "figures", "dismissed", "took over", "stopped"
    ]
    text: str = ""
    """why it is due to be replaced, why it cannot start, or why it is not ready"""
    files: tuple[SourceFile, ...] = ()
    """source files that it has loaded, as they were then"""
    figures: bytes = b""
    """what it has counted since it started"""
    worker: str = ""
    """its id as a worker, when it is ready; or that of the dead one whose jobs it took over"""
    longest_stop: float = 0.0
    """seconds that it may take to stop, when it is ready"""


class Death(msgspec.Struct, frozen=True):
    """What the supervisor tells: the process of a worker has died."""

    worker: str


def encode(note: Note | Death) -> bytes:
    return msgspec.json.encode(note) + b"\n"


def decode(line: bytes) -> Note:
    return msgspec.json.decode(line, type=Note)


def decode_death(line: bytes) -> Death:
    return msgspec.json.decode(line, type=Death)
