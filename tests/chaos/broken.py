"""Stores that break a promise, for the judge to find out."""

from collections.abc import Sequence
from typing import Any

from windlass.core.model import NewJob, Receipt, Transition
from windlass.stores.contract import Store

LOST = range(5, 15)
"""What these attempts came to, in their order, is lost. Later ones are kept, or the store would
never be quiet."""


class Broken:
    """Passes on what it does not break."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class Forgetful(Broken):
    """Says that it has a job, and loses one in ten."""

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        kept = [job for job in jobs if job.spec.parents or not job.id.endswith("7")]
        there = {job.id for job in kept}
        await self._store.insert(
            [job for job in kept if all(parent in there for parent in job.spec.parents)]
        )
        return [Receipt(job.id) for job in jobs]


class Careless(Broken):
    """Says that it has written what an attempt came to, and loses that of some claims."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._order: dict[int, int] = {}

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        for move in transitions:
            self._order.setdefault(move.fence, len(self._order))
        kept = [move for move in transitions if self._order[move.fence] not in LOST]
        await self._store.finish(kept)
        return frozenset(move.id for move in transitions)
