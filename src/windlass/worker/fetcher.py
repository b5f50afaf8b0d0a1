"""Claims jobs: how many, when, and from which queues.

Claims what can start now and, while jobs are quick, a little ahead, so that the store
works on the next batch while this one runs. A worker whose jobs are slow claims nothing
ahead: what it cannot start soon, another worker can. Whose turn it is among the queues is
decided in `core/rotation.py`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Final

from ..config import WorkerSettings
from ..core.clock import to_ms
from ..core.model import Job
from ..core.rotation import Rotation, parse_queues
from ..core.states import WAITING
from ..service import Service
from ..stores.contract import Store
from .gathering import Gathering, gathered
from .hand import Hand
from .runner import Runner

LOOKAHEAD: Final = 0.02
"""Claim ahead what will have been started after so many seconds."""

MOST_AHEAD: Final = 9
"""And never more than so many times the concurrency: larger batches gain nothing more."""

LONGEST_WAIT: Final = 5.0
"""An idle worker looks at the store this often even if nothing woke it."""

NEWS: Final = 1.0
"""How often a busy worker that serves every queue looks for new ones, in seconds."""


def ahead(size: int, seconds_per_job: float | None) -> int:
    """How many jobs to claim beyond those that can start at once."""
    if seconds_per_job is None:
        return 0
    return min(MOST_AHEAD * size, int(size * LOOKAHEAD / max(seconds_per_job, 1e-9)))


class Fetcher(Service):
    """Keeps the worker's hand full."""

    def __init__(
        self,
        store: Store,
        settings: WorkerSettings,
        worker: str,
        hand: Hand,
        runner: Runner,
    ) -> None:
        super().__init__()
        self._store = store
        queues = parse_queues(settings.queues, strict=settings.strict)
        self._rotation = Rotation(queues, strict=settings.strict)
        self._met_at = float("-inf")
        self._lease = to_ms(settings.lease)
        self._worker = worker
        self._hand = hand
        self._runner = runner
        self._allowed = asyncio.Event()
        self._allowed.set()
        self.found_nothing = False
        """whether the last claim brought nothing, and nothing has called for another"""

    def serves(self, queue: str) -> bool:
        """Whether it claims from a queue of this name."""
        return self._rotation.is_open or queue in self._rotation.names

    @property
    def quiet(self) -> bool:
        """Whether it claims nothing, until it is told otherwise."""
        return not self._allowed.is_set()

    @quiet.setter
    def quiet(self, quiet: bool) -> None:
        if quiet:
            self._allowed.clear()
        else:
            self._allowed.set()

    async def run(self) -> None:
        while not self.stopping:
            await self._allowed.wait()
            extra = ahead(self._hand.size, self._runner.pace())
            room = self._hand.size + extra - len(self._hand)
            # Every slot is busy while half of the extra is left; what is claimed together
            # is cheaper, and will be finished together.
            if room <= extra // 2:
                await self._hand.changed()
            elif not await self._claim(room):
                await self._wait()
                self._met_at = float("-inf")

    async def _wait(self) -> None:
        self.found_nothing = True
        try:
            await self._store.wait(self._rotation.names, LONGEST_WAIT)
        finally:
            self.found_nothing = False

    async def _claim(self, room: int) -> bool:
        """Take up to `room` jobs; whether there was any."""
        rotation = self._rotation
        if rotation.is_open and time.monotonic() - self._met_at > NEWS:
            rotation.meet(await self._waiting_queues())
            self._met_at = time.monotonic()
        caps = rotation.caps(room)
        if not caps:
            return False
        jobs = await self._hand_over(caps, room)
        rotation.note(caps, room, (job.queue for job in jobs))
        return bool(jobs)

    async def _waiting_queues(self) -> list[str]:
        """Every queue that may give a job now or later."""
        return [
            queue.name
            for queue in await self._store.queues()
            if not queue.paused and not WAITING.isdisjoint(queue.counts)
        ]

    async def _hand_over(self, caps: Mapping[str, int], room: int) -> Sequence[Job]:
        claim = asyncio.ensure_future(self._store.claim(caps, room, self._lease, self._worker))
        try:
            jobs = await asyncio.shield(claim)
        except asyncio.CancelledError:
            # What the store has handed over must be taken, or it would be stuck until its
            # lease runs out.
            self._take(await claim)
            raise
        self._take(jobs)
        if self.quiet:
            # It was told so while the store looked for them.
            self._runner.release_backlog()
        return jobs

    def _take(self, jobs: Sequence[Job]) -> None:
        self._hand.take(jobs)
        parts = gathered(jobs)
        if parts is not jobs:
            for part in parts:
                if isinstance(part, Gathering):
                    self._hand.bundle(part.claims)
        self._runner.deliver(parts)
