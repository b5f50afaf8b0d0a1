"""Fences of several shards, of which each counts by itself."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.model import Job


class Fences:
    """The greatest fence that was seen, for the next one to go beyond.

    A job that is deleted and made anew may get to another shard; its fences go on growing. With
    one shard there is nothing to compare.
    """

    def __init__(self, shards: int) -> None:
        self._greatest = 0 if shards > 1 else None

    @property
    def floor(self) -> int | str:
        return "" if self._greatest is None else self._greatest

    def note(self, jobs: Sequence[Job]) -> None:
        if self._greatest is not None:
            self._greatest = max([self._greatest, *(job.fence for job in jobs)])
