"""What happened, as those who did it wrote it down; `rules` judges it.

Whoever acts writes before it asks the store and after it was answered, in a file of its own: what
is between the two may or may not have happened, and a rule must take both for possible. Moments
are of one clock, that of the machine that all of them run on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from ...core.model import Job, QueueStats
from ...core.states import State

Harm = Literal[
    "kill",
    "stop",
    "continue",
    "end",
    "crash",
    "restart",
    "cut",
    "drop",
    "slow",
    "failover",
    "takeover",
    "loss",
    "memory",
    "disk",
]
"""SIGKILL, SIGSTOP, SIGCONT or SIGTERM to a process; or something that befell the store.

A failover is in good order; a takeover is that of a dead master's replica. After a loss the store
is in an earlier state. Memory and disk: the store had none left."""
PROCESS: Final = frozenset({"kill", "stop", "continue", "end"})
"""What is done to a process."""


class Asked(msgspec.Struct, frozen=True, tag="asked"):
    """A producer is about to enqueue a job. It may never hear what became of it."""

    at: float
    job: str
    queue: str = "default"
    unique: str = ""
    parents: tuple[str, ...] = ()
    sequence: str = ""
    limit: str = ""
    """the limit that it runs under"""
    runs_anyway: bool = False
    """whether it is enough for it that its parents have ended"""


class Accepted(msgspec.Struct, frozen=True, tag="accepted"):
    """The store has the job, or one that stands for it."""

    at: float
    job: str
    duplicate: bool = False


class Started(msgspec.Struct, frozen=True, tag="started"):
    """A handler began."""

    at: float
    job: str
    fence: int
    attempt: int
    node: str


class Effect(msgspec.Struct, frozen=True, tag="effect"):
    """A handler did what it is there for."""

    at: float
    job: str
    fence: int
    node: str


class Finishing(msgspec.Struct, frozen=True, tag="finishing"):
    """A worker is about to write what an attempt came to."""

    at: float
    job: str
    fence: int
    state: State
    node: str


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The store has answered: `held` says that it took the write."""

    at: float
    job: str
    fence: int
    state: State
    node: str
    held: bool


class Fault(msgspec.Struct, frozen=True, tag="fault"):
    """Something was done to a process or to the store; `node` is empty for the store."""

    at: float
    kind: Harm
    node: str = ""


Event = Asked | Accepted | Started | Effect | Finishing | Finished | Fault

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Event).decode


class Notebook:
    """One process' file of events. A line is whole or, after a kill, missing."""

    def __init__(self, path: Path) -> None:
        # Unbuffered: what was written is there even if the process is killed right afterwards.
        self._file = path.open("ab", buffering=0)

    def write(self, *events: Event) -> None:
        self._file.write(b"".join(_encode(event) + b"\n" for event in events))

    def close(self) -> None:
        self._file.close()


def read(paths: Iterable[Path]) -> list[Event]:
    """All events, in the order of their moments; a line that was cut off by a kill is left out."""
    events = [
        _decode(line)
        for path in paths
        for line in path.read_bytes().splitlines(keepends=True)
        if line.endswith(b"\n")
    ]
    return sorted(events, key=lambda event: event.at)


class Outcome(msgspec.Struct, frozen=True):
    """What the store has when all is quiet."""

    jobs: Sequence[Job]
    queues: Sequence[QueueStats]
    limits: dict[str, int] = {}
    """how many jobs may be active at once, by the name that `Asked.limit` has"""
    ticks: dict[str, int] = {}
    """schedules that leave no tick out, and the seconds between two of their ticks"""
