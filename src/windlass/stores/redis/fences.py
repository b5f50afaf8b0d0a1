"""The greatest fence that was seen: what a server has forgotten, its callers may still know."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.model import Job


class Fences:
    """The greatest fence that was seen, for the next one to go beyond.

    A server goes by its clock as well (see `next_fence` in `lua/shared/index.lua`). This helps
    where that of another server is behind: one that took over, or that of the shard of a former
    job of the same id.
    """

    def __init__(self) -> None:
        self.floor = 0

    def note(self, jobs: Sequence[Job]) -> None:
        self.floor = max([self.floor, *(job.fence for job in jobs)])
