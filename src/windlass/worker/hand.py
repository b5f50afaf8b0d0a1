"""The jobs that a worker has in hand: claimed, and not yet durably finished.

A slot is free again only when the store has what the attempt came to: so a worker never
holds more leases than it said it would, however slow the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from ..core.model import Job, Lease

Claim = tuple[str, int]
"""The id and the fence of a job. The id alone is not enough: a job that was cancelled and
replayed can come to the same worker again while the attempt before is still running."""


class Hand:
    """Counts slots and remembers leases."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._jobs: dict[Claim, Job] = {}
        self._bundles: dict[Claim, set[Claim]] = {}
        self._surplus = 0
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        """How many slots are taken: the jobs of a bundle have one."""
        return len(self._jobs) - self._surplus

    def __contains__(self, lease: Lease) -> bool:
        return (lease.id, lease.fence) in self._jobs

    @property
    def jobs(self) -> Sequence[Job]:
        """All that are in hand; from any thread."""
        return list(self._jobs.values())

    @property
    def leases(self) -> Sequence[Lease]:
        # Read from the heartbeat's thread: copying the values is one step, going over them is not.
        return [job.lease for job in list(self._jobs.values())]

    def of(self, claims: Iterable[Claim]) -> Sequence[Job]:
        """Those of these jobs that are in hand."""
        found = [self._jobs.get(claim) for claim in claims]
        return [job for job in found if job is not None]

    def take(self, jobs: Iterable[Job]) -> None:
        self._jobs.update({(job.id, job.fence): job for job in jobs})

    def bundle(self, claims: Sequence[Claim]) -> None:
        """Let jobs that are in hand share one slot."""
        bundle = set(claims)
        self._bundles.update(dict.fromkeys(claims, bundle))
        self._surplus += len(bundle) - 1

    def drop(self, claims: Iterable[Claim]) -> Sequence[Job | None]:
        """Let go of jobs; what they were, None for one that was not in hand."""
        dropped = []
        for claim in claims:
            dropped.append(self._jobs.pop(claim, None))
            if self._bundles:
                self._unbundle(claim)
        self._changed.set()
        return dropped

    def _unbundle(self, claim: Claim) -> None:
        bundle = self._bundles.pop(claim, None)
        if bundle is not None:
            bundle.discard(claim)
            self._surplus -= bool(bundle)

    async def changed(self) -> None:
        """Wait until some slot was freed after this call."""
        self._changed.clear()
        await self._changed.wait()
