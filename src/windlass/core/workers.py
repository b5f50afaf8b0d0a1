"""Workers and leaders, as a store knows of them."""

from __future__ import annotations

import msgspec


class WorkerInfo(msgspec.Struct, frozen=True):
    """A worker as it describes itself; `seen_at` is when the store last heard of it."""

    id: str
    host: str
    pid: int
    queues: tuple[str, ...]
    concurrency: int
    started_at: int
    active: int = 0
    seen_at: int = 0


class Term(msgspec.Struct, frozen=True):
    """A leadership that was won: `term` grows with each new holder."""

    holder: str
    term: int
    expires_at: int
