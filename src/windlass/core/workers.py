"""Workers and leaders, as a store knows of them."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

UPKEEP: Final = "upkeep"
"""The role of the leader who does what keeps all queues going."""

SERVER: Final = "server:"
"""How the name of a leader begins that is a server, and so on no list of workers."""

Order = Literal["work", "quiet", "stop"]
"""What a worker is told: to claim jobs, to claim no more and finish those it has, or to stop."""


class WorkerInfo(msgspec.Struct, frozen=True):
    """A worker as it describes itself; `seen_at` is when the store last heard of it."""

    id: str
    host: str
    pid: int
    queues: tuple[str, ...]
    concurrency: int
    """how many jobs it can run at the same time, of both kinds together"""
    started_at: int
    active: int = 0
    seen_at: int = 0
    memory: int = 0
    """bytes of resident memory of its process; 0 if it does not tell"""
    quiet: bool = False
    """it claims nothing, as it was told"""
    fault: str = ""
    """why it cannot work, though it lives"""
    completed: int = 0
    """jobs that it has completed since its start"""
    failed: int = 0
    """attempts that have failed here"""
    order: Order | None = None
    """what it was told last, as the store has it: it follows within seconds"""
    threads: int = 0
    """how many of these jobs can be blocking ones; 0 if it has no such tasks, or does not tell"""
    in_threads: int = 0
    """how many of the active ones are"""
    owner: str = ""
    """the key by which a server has entered it; none for one that reaches the store itself"""

    @property
    def claims(self) -> bool:
        """Whether it is to claim jobs, by the order that stands or else by its own word."""
        return not self.quiet if self.order is None else self.order == "work"


class Term(msgspec.Struct, frozen=True):
    """A leadership that was won: `term` grows with each new holder."""

    holder: str
    term: int
    expires_at: int
