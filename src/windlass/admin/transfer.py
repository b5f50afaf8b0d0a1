"""Bringing jobs from one store to another, a batch at a time, so that each is always in one.

A job is restored on the target first and deleted from the source after that, and what was kept of
its attempts with it. In between it is in both, which does no harm while neither lets it be claimed:
both queues are paused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec

from ..core.attempts import KEEP_ATTEMPTS, AttemptRecord
from ..core.model import Job, Receipt
from ..core.states import State
from ..stores.contract import Store

LARGEST: Final = 4 * 1024 * 1024
"""Bytes of arguments and results, or characters of what was logged, in one step."""

READ_TOGETHER: Final = 20
"""So many jobs' attempts are looked at in one step: each may have logged a lot."""

T = TypeVar("T")

Counts = Counter[tuple[str, State]]
"""Jobs by queue and state."""


class Left(NamedTuple):
    """A job that stays on the source, and why."""

    id: str
    queue: str
    reason: str


class Transfer:
    """Moves batches, and counts what became of them."""

    def __init__(self, source: Store, target: Store) -> None:
        self._source = source
        self._target = target
        self.moved: Counts = Counter()
        """what was deleted from the source, for the target has it"""
        self.added: Counts = Counter()
        """what the target has got by it; one that it had from an earlier run is none"""

    async def carry(self, jobs: Sequence[Job]) -> list[Left]:
        """Move jobs, none of them active; those that have to stay.

        One that changes meanwhile is still on the source afterwards, to be met again.
        """
        return [left for part in _portions(jobs, _weight) for left in await self._carry(part)]

    async def _carry(self, jobs: Sequence[Job]) -> list[Left]:
        there, refused = await self._restore(jobs)
        left: list[Left] = []
        if refused:
            copies = await self._target.get([job.id for job, _ in refused])
            there += await self._settle(refused, copies)
            left = [
                Left(job.id, job.queue, reason)
                for job, receipt in refused
                if (reason := _obstacle(job, receipt, copies.get(job.id))) is not None
            ]
        await self._take_attempts(there)
        await self._delete(there)
        return left

    async def _restore(self, jobs: Sequence[Job]) -> tuple[list[Job], list[tuple[Job, Receipt]]]:
        """Those that the target took in, and the others."""
        receipts = await self._target.restore(jobs)
        pairs = list(zip(jobs, receipts, strict=True))
        taken = [job for job, receipt in pairs if not receipt.duplicate]
        self.added.update((job.queue, job.state) for job in taken)
        return taken, [(job, receipt) for job, receipt in pairs if receipt.duplicate]

    async def _settle(
        self, refused: Sequence[tuple[Job, Receipt]], copies: Mapping[str, Job]
    ) -> list[Job]:
        """Jobs that the target has from an earlier run. One that has changed since is replaced."""
        known = [(job, copies[job.id]) for job, _ in refused if job.id in copies]
        ours = [(job, copy) for job, copy in known if is_copy(job, copy)]
        stale = {job.id: (job, copy) for job, copy in ours if is_stale(job, copy)}
        there = [job for job, _ in ours if job.id not in stale]
        for id in await self._target.delete(list(stale), moved=True) if stale else ():
            job, copy = stale[id]
            self.added[copy.queue, copy.state] -= 1
            taken, _ = await self._restore([job])
            there += taken
        return there

    async def _take_attempts(self, jobs: Sequence[Job]) -> None:
        """Bring what was kept of attempts. How long it was to be kept, only the source knows."""
        ran = [job.id for job in jobs if job.fence]
        for start in range(0, len(ran), READ_TOGETHER):
            found = await self._source.attempts(ran[start : start + READ_TOGETHER])
            records = [record for these in found.values() for record in these]
            for part in _portions(records, _extent):
                await self._target.note_attempts(part, KEEP_ATTEMPTS)

    async def _delete(self, jobs: Sequence[Job]) -> None:
        """Take jobs off the source, each only in the state that the target has it in."""
        by_state: dict[State, list[Job]] = {}
        for job in jobs:
            by_state.setdefault(job.state, []).append(job)
        for state, group in by_state.items():
            ids = [job.id for job in group]
            gone = await self._source.delete(ids, frozenset({state}), moved=True)
            self.moved.update((job.queue, state) for job in group if job.id in gone)


def _portions(these: Sequence[T], extent: Callable[[T], int]) -> Iterator[Sequence[T]]:
    """In parts that a server can take in one step, however large each of them is."""
    part: list[T] = []
    size = 0
    for each in these:
        more = extent(each)
        if part and size + more > LARGEST:
            yield part
            part, size = [], 0
        part.append(each)
        size += more
    if part:
        yield part


def _weight(job: Job) -> int:
    return len(job.spec.payload) + len(job.result or b"")


def _extent(record: AttemptRecord) -> int:
    return sum(len(line.text) for line in record.lines)


def is_copy(job: Job, there: Job) -> bool:
    """Whether two jobs of one id are one job: all that never changes is the same."""
    return _lasting(job) == _lasting(there)


def _lasting(job: Job) -> tuple[object, ...]:
    return job.created_at, job.queue, job.unique, job.spec


def is_stale(job: Job, copy: Job) -> bool:
    """Whether the source has changed the job since it was copied.

    Not if the target has claimed it: then its own is the one that counts.
    """
    return copy.fence <= job.fence and _without_place(copy) != _without_place(job)


def _without_place(job: Job) -> Job:
    return msgspec.structs.replace(job, ref=0)


def _obstacle(job: Job, receipt: Receipt, there: Job | None) -> str | None:
    """Why a job that was refused cannot be moved; None if the target has it already."""
    if there is not None:
        if is_copy(job, there):
            return None
        return f"Job {job.id} of the queue {job.queue}: the target has another job of this id."
    if receipt.id != job.id:
        return (
            f"Job {job.id} of the queue {job.queue}: job {receipt.id} on the target has its "
            f"unique key {job.unique}."
        )
    return f"Job {job.id} of the queue {job.queue}: the target is about to store one of this id."
