"""The jobs that a worker has in hand: claimed, and not yet durably finished.

A slot is free again only when the store has what the attempt came to: so a worker never
holds more leases than it said it would, however slow the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from ..core.model import Job, Lease

Claim = tuple[str, int]
"""The id and the fence of a job. The id alone is not enough: a job that was cancelled and
replayed can come to the same worker again while the attempt before is still running."""


class Hand:
    """Counts slots and remembers leases."""

    def __init__(self) -> None:
        self._jobs: dict[Claim, Job] = {}
        self._blocking: dict[Claim, Job] = {}
        """those for blocking handlers, which are not among the others"""
        self._bundles: dict[Claim, set[Claim]] = {}
        self._surplus = 0
        self._surplus_blocking = 0
        self.bytes = 0
        """of payload, of all jobs in hand"""
        self._changed = asyncio.Event()
        self._when_last: tuple[asyncio.AbstractEventLoop, Callable[[], None]] | None = None

    def __len__(self) -> int:
        """How many slots are taken: the jobs of a bundle have one."""
        return len(self._jobs) + len(self._blocking) - self._surplus

    def __contains__(self, lease: Lease) -> bool:
        claim = (lease.id, lease.fence)
        return claim in self._jobs or claim in self._blocking

    @property
    def blocking(self) -> int:
        """How many of these slots are for blocking handlers."""
        return len(self._blocking) - self._surplus_blocking

    @property
    def jobs(self) -> Sequence[Job]:
        """All that are in hand; from any thread."""
        return [*list(self._jobs.values()), *list(self._blocking.values())]

    @property
    def leases(self) -> Sequence[Lease]:
        # Read from the heartbeat's thread: copying the values is one step, going over them is not.
        return [job.lease for job in self.jobs]

    def of(self, claims: Iterable[Claim]) -> Sequence[Job]:
        """Those of these jobs that are in hand."""
        found = [self._jobs.get(claim) or self._blocking.get(claim) for claim in claims]
        return [job for job in found if job is not None]

    def take(self, jobs: Sequence[Job], blocking: Sequence[Job] = ()) -> None:
        """Have these jobs; `blocking` are others, whose handlers are."""
        self._take(self._jobs, jobs)
        if blocking:
            self._take(self._blocking, blocking)

    def _take(self, into: dict[Claim, Job], jobs: Sequence[Job]) -> None:
        into.update({(job.id, job.fence): job for job in jobs})
        self.bytes += sum([len(job.spec.payload) for job in jobs])

    def bundle(self, claims: Sequence[Claim]) -> None:
        """Let jobs that are in hand share one slot; all of them are of one kind."""
        bundle = set(claims)
        self._bundles.update(dict.fromkeys(claims, bundle))
        self._surplus += len(bundle) - 1
        if not bundle.isdisjoint(self._blocking):
            self._surplus_blocking += len(bundle) - 1

    def drop(self, claims: Iterable[Claim]) -> Sequence[Job | None]:
        """Let go of jobs; what they were, None for one that was not in hand."""
        dropped = []
        for claim in claims:
            if self._bundles:
                self._unbundle(claim)
            job = self._jobs.pop(claim, None)
            if job is None and self._blocking:
                job = self._blocking.pop(claim, None)
            if job is not None:
                self.bytes -= len(job.spec.payload)
            dropped.append(job)
        self._changed.set()
        if self._when_last is not None and self._has_one:
            # It may be another thread that has given back what was in hand.
            loop, act = self._when_last
            loop.call_soon_threadsafe(self.when_last, act)
        return dropped

    @property
    def _has_one(self) -> bool:
        return len(self._jobs) + len(self._blocking) <= 1

    def when_last(self, act: Callable[[], None]) -> None:
        """Call `act` once, as soon as no more than one job is in hand.

        A job that has ended is in hand until that is written. Only the last `act` asked for counts.
        """
        self._when_last = (asyncio.get_running_loop(), act)
        if self._has_one:
            self._when_last = None
            act()

    def _unbundle(self, claim: Claim) -> None:
        bundle = self._bundles.pop(claim, None)
        if bundle is not None:
            bundle.discard(claim)
            self._surplus -= bool(bundle)
            self._surplus_blocking -= bool(bundle) and claim in self._blocking

    async def changed(self) -> None:
        """Wait until some slot was freed after this call."""
        self._changed.clear()
        await self._changed.wait()
