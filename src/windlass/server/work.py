"""What workers in other languages do with the jobs that they have fetched.

A worker is believed its lease, which is the id and the fence, and nothing else: where the store has
the job, what it is written in and how often it was tried is looked up. What belongs to another by
now is left out of the answer, and the rest is done.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..app import Windlass
from ..core.attempts import KEEP_ATTEMPTS, failed_attempt
from ..core.binding import RESULT
from ..core.clock import system_clock
from ..core.codec import decode_result, encode_result, too_large
from ..core.context import MAX_NOTE
from ..core.model import Failure, Job, Lease, Progress, Transition
from ..core.outcome import (
    Failed,
    Outcome,
    Released,
    Succeeded,
    Unknown,
    decide,
    failure_from,
)
from ..core.protobuf import PROTOBUF
from ..core.retry import DEFAULT_RETRY
from ..core.states import State
from ..errors import CorruptRecord, InvalidOption, StoreError
from ..members import get_brief
from ..observe import joblog
from ..observe.ledger import NOT_RUN, Ledger
from ..stores.contract import Store
from ..worker.results import encoded
from .leases import Leases

log = logging.getLogger("windlass")

UNNAMED: Final = "Error"


class Plain(NamedTuple):
    """A result or a checkpoint that is still to be written, in the content type of its job."""

    value: Any


Record = bytes | Plain
"""As it is stored, or as a value."""


class Failing(NamedTuple):
    """An attempt that failed, as its worker tells of it."""

    lease: Lease
    kind: str
    message: str
    traceback: str = ""
    retry_after: float | None = None
    """seconds"""
    fatal: bool = False


class Work:
    """Finishes jobs for workers; `store` is always the one that the caller may see."""

    def __init__(
        self, app: Windlass, store: Store, ledger: Ledger, max_result: int, leases: Leases
    ) -> None:
        self._codecs = app.codecs
        self._registry = app.registry
        self._max_result = max_result
        self._store = store
        self._ledger = ledger
        self._leases = leases

    async def extend(self, store: Store, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        """Hold leases for `lease` milliseconds from now; the ids that were still held."""
        began = self._leases.now()
        held = await store.renew(_last(leases), lease) if leases else frozenset()
        self._leases.extend(held, lease, began)
        return held

    async def ack(
        self, store: Store, results: Sequence[tuple[Lease, Record | None]]
    ) -> frozenset[str]:
        """Complete jobs; the ids that are. Once more with the same lease changes nothing."""
        given = dict(results)
        found = await _found(store, given)
        moves = []
        for lease, job in found:
            if job.state is State.ACTIVE:
                moves.append(decide(job, Succeeded(self._result(job, given[lease]))))
        return await self._finish(store, moves, found, (State.COMPLETED,))

    async def nack(self, store: Store, failures: Sequence[Failing]) -> frozenset[str]:
        """Let attempts have failed; the ids of those that were not lost before."""
        given = {each.lease: each for each in failures}
        found = await _found(store, given)
        active = [(lease, job) for lease, job in found if job.state is State.ACTIVE]
        moves = [self._after(job, given[lease]) for lease, job in active]
        done = await self._finish(store, moves, found, (State.RETRY, State.DEAD))
        await self._note([job for _, job in active], moves, done)
        return done

    async def _note(
        self, jobs: Sequence[Job], moves: Sequence[Transition], done: frozenset[str]
    ) -> None:
        """Keep what failed attempts came to; the jobs are seen to, whether or not that can be."""
        failed = [pair for pair in zip(jobs, moves, strict=True) if pair[0].id in done]
        if not failed:
            return
        records = [failed_attempt(job, move, system_clock()) for job, move in failed]
        try:
            await self._store.note_attempts(records, KEEP_ATTEMPTS)
        except StoreError as error:
            log.warning("what %d attempt(s) came to could not be kept: %s", len(failed), error)

    async def release(
        self, store: Store, leases: Sequence[Lease], delay: int = 0, *, unknown: bool = False
    ) -> frozenset[str]:
        """Give jobs back, for after `delay` milliseconds; the ids of those that were held.

        An unknown task is one that another worker may know; after an hour of that it is dead.
        """
        outcome: Outcome = Unknown() if unknown else Released(delay)
        found = await _found(store, leases)
        moves = [decide(job, outcome) for _, job in found if job.state is State.ACTIVE]
        return await self._finish(store, moves, found)

    async def holding(self, store: Store, leases: Sequence[Lease]) -> frozenset[str]:
        """The ids whose leases hold; `extend` tells the same and changes it."""
        found = await _found(store, leases)
        return frozenset(job.id for _, job in found if job.state is State.ACTIVE)

    async def report(self, store: Store, reports: Sequence[tuple[Lease, Progress]]) -> None:
        """Note how far attempts have come."""
        last = {lease: _checked(progress) for lease, progress in reports}
        if last:
            await store.report(list(last.items()))

    async def checkpoint(
        self, store: Store, states: Sequence[tuple[Lease, Record]]
    ) -> frozenset[str]:
        """Keep what attempts leave for the next one; the ids whose lease still held."""
        given = dict(states)
        found = await _found(store, given)
        kept = [(lease, self._record(job, given[lease], "checkpoint")) for lease, job in found]
        return await store.checkpoint(kept) if kept else frozenset()

    async def _finish(
        self,
        store: Store,
        moves: Sequence[Transition],
        found: Sequence[tuple[Lease, Job]],
        done: Sequence[State] = (),
    ) -> frozenset[str]:
        """The ids that were moved, and those that were before, by a call whose answer was lost."""
        before = frozenset(job.id for _, job in found if job.state in done)
        if not moves:
            return before
        held = await store.finish(moves)
        self._leases.end(held)
        self._count({job.id: job for _, job in found}, moves, held)
        return before | held

    def _count(
        self, jobs: Mapping[str, Job], moves: Sequence[Transition], held: frozenset[str]
    ) -> None:
        # The store has told when they began; this machine's clock is near enough to count with.
        now = system_clock()
        for move in moves:
            job = jobs[move.id]
            seconds = max(now - (job.started_at or now), 0) / 1000
            self._ledger.settle_one(
                job, move if move.id in held else None, NOT_RUN if move.refund else seconds
            )

    def _result(self, job: Job, given: Record | None) -> bytes | None:
        """What is to be stored, which is something even for None where results are encrypted."""
        if given is not None:
            return self._record(job, given, RESULT)
        try:
            codec = self._codecs.get(job.spec.content_type)
        except CorruptRecord:
            return None
        return encoded(job, codec, None, self._max_result)

    def _record(self, job: Job, given: Record, what: str) -> bytes:
        """What is to be stored; raises for what nobody could read afterwards."""
        record = self._written(job, given.value, what) if isinstance(given, Plain) else given
        if len(record) > self._max_result:
            raise too_large(f"The {what}s of {job.task}", record, self._max_result)
        try:
            codec = self._codecs.get(job.spec.content_type)
        except CorruptRecord:
            # A codec of the producer's own: whoever could read the job can write it.
            return record
        try:
            decode_result(codec, record, what, job.id, job.task)
        except CorruptRecord as error:
            raise InvalidOption(
                f"The {what} of job {job.id} is not one in {codec.name}, which is [1, value]: "
                f"{error}"
            ) from None
        return record

    def _written(self, job: Job, value: Any, what: str) -> bytes:
        content_type = job.spec.content_type
        try:
            codec = self._codecs.get(content_type)
        except CorruptRecord:
            codec = PROTOBUF
        if codec is PROTOBUF:
            raise InvalidOption(
                f"The {what} of job {job.id} is to be in {content_type}, which the server cannot "
                "write: give it as payload, in base64."
            )
        return encode_result(codec, value, what, job.id, job.task)

    def _after(self, job: Job, failing: Failing) -> Transition:
        failure = failure_from(failing.kind or UNNAMED, failing.message, failing.traceback)
        outcome = Failed(failure, None, failing.retry_after, failing.fatal)
        known = job.task in self._registry
        policy = self._registry[job.task].policy if known else DEFAULT_RETRY
        try:
            move = decide(job, outcome, policy)
        except Exception:
            # A user's own backoff function can fail, and there is no error to give it.
            log.exception("the backoff of task %s failed; using the default", job.task)
            move = decide(job, outcome, DEFAULT_RETRY)
        # The kind alone: the text is that of another program.
        joblog.failed(job, move, Failure(failure.kind, ""))
        return move


def _last(leases: Iterable[Lease]) -> list[Lease]:
    """Of several leases of one job the last, which is the only one that can hold."""
    last: dict[str, Lease] = {}
    for lease in leases:
        known = last.get(lease.id)
        if known is None or known.fence < lease.fence:
            last[lease.id] = lease
    return list(last.values())


async def _found(store: Store, leases: Iterable[Lease]) -> list[tuple[Lease, Job]]:
    """The jobs of these leases that nobody has claimed since."""
    last = _last(leases)
    if not last:
        return []
    jobs = await get_brief(store, [lease.id for lease in last])
    return [
        (lease, job)
        for lease in last
        if (job := jobs.get(lease.id)) is not None and job.fence == lease.fence
    ]


def _checked(progress: Progress) -> Progress:
    percent = progress.percent
    if not 0 <= percent <= 100:
        raise InvalidOption(f"percent is a number from 0 to 100; got {percent!r}.")
    return Progress(percent, progress.message[:MAX_NOTE].replace("\0", ""))
