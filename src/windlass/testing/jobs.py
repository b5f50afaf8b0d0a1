"""Builders and small steps, so that a test says what it is about and nothing else.

The steps go through the contract only and check what they rely on: a step that cannot be
taken fails there, not three lines later. `bring` claims from the job's queue, so nothing
else may be pending in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from ..core.model import DEFAULT_QUEUE, Failure, Job, JobQuery, NewJob, Receipt, Spec, Transition
from ..core.states import State
from ..stores.contract import Store

LEASE: Final = 30_000
WORK: Final = Spec("work", b"")
FLEETING: Final = Spec("work", b"", keep=0)
BRIEF: Final = Spec("work", b"", keep=1_000)
BOOM: Final = Failure("ValueError", "boom", "Traceback …")

REACHABLE: Final[tuple[State, ...]] = tuple(state for state in State if state is not State.BLOCKED)
"""The states that the contract can bring a job to: it has no dependencies to block on yet."""


def new_job(id: str, spec: Spec = WORK, **options: Any) -> NewJob:
    """A request with everything ordinary but what the test names."""
    return NewJob(id, spec, **options)


def foreign(id: str, state: State = State.PENDING, spec: Spec = WORK, **fields: Any) -> Job:
    """A job as another store might have it."""
    made = Job(id, spec, "default", state, 50, created_at=1_600_000_000_000, due=1_600_000_000_000)
    return msgspec.structs.replace(made, **fields)


async def put(store: Store, *ids: str, spec: Spec = WORK, **options: Any) -> None:
    """Insert new jobs that differ by their ids only."""
    receipts = await store.insert([new_job(id, spec, **options) for id in ids])
    assert receipts == [Receipt(id) for id in ids]


async def claim(
    store: Store,
    limit: int = 100,
    *,
    queue: str = DEFAULT_QUEUE,
    lease: int = LEASE,
    worker: str = "w1",
) -> list[Job]:
    """Claim from one queue, with no cap but the limit."""
    return list(await store.claim({queue: limit}, limit, lease, worker))


async def claim_all(store: Store, *queues: str, limit: int = 1_000) -> list[Job]:
    """Claim until nothing is left, for one claim may give fewer than there are."""
    caps = dict.fromkeys(queues or (DEFAULT_QUEUE,), limit)
    claimed: list[Job] = []
    while jobs := await store.claim(caps, limit, LEASE, "w1"):
        claimed += jobs
    return claimed


async def claim_one(store: Store, **options: Any) -> Job:
    """The next job of the queue, which must have one."""
    jobs = await claim(store, 1, **options)
    assert len(jobs) == 1, "expected a job to claim"
    return jobs[0]


async def finish(store: Store, job: Job, state: State, **options: Any) -> bool:
    """Finish one attempt; whether the store took it."""
    move = Transition(job.id, job.fence, state, queue=job.queue, ref=job.ref, **options)
    return await store.finish([move]) == {job.id}


async def bring(store: Store, id: str, state: State, spec: Spec = WORK, **options: Any) -> None:
    """Insert a job and bring it to `state` by the shortest way."""
    if state is State.SCHEDULED:
        await put(store, id, spec=spec, delay=60_000, **options)
        return
    await put(store, id, spec=spec, **options)
    if state is State.CANCELLED:
        assert await store.cancel([id]) == {id}
    elif state is not State.PENDING:
        job = await claim_one(store, queue=options.get("queue", DEFAULT_QUEUE))
        assert job.id == id, "bring() needs a queue with nothing pending"
        if state is not State.ACTIVE:
            error = None if state is State.COMPLETED else BOOM
            assert await finish(store, job, state, delay=60_000, error=error)


async def job_of(store: Store, id: str) -> Job:
    """The job as it stands, which must exist."""
    jobs = await store.get([id])
    assert id in jobs, f"job {id} is gone"
    return jobs[id]


async def state_of(store: Store, id: str) -> State | None:
    """The state of a job; None if the store has no such job."""
    jobs = await store.get([id])
    return jobs[id].state if id in jobs else None


async def pages(store: Store, **query: Any) -> list[Sequence[Job]]:
    """Every page of a listing, each within its limit; a listing without end fails."""
    found: list[Sequence[Job]] = []
    asked = JobQuery(**query)
    cursor = asked.cursor
    while len(found) < 10_000:
        page = await store.find(JobQuery(**{**query, "cursor": cursor}))
        assert len(page.jobs) <= asked.limit
        found.append(page.jobs)
        if page.cursor is None:
            return found
        cursor = page.cursor
    raise AssertionError("the listing never ends")


async def listing(store: Store, **query: Any) -> list[Job]:
    """A whole listing, page by page."""
    return [job for page in await pages(store, **query) for job in page]


async def counts(store: Store, queue: str = DEFAULT_QUEUE) -> dict[State, int]:
    """The counts of a queue; none at all if it is not listed."""
    return {
        state: n
        for stats in await store.queues()
        if stats.name == queue
        for state, n in stats.counts.items()
    }


def ids(jobs: Iterable[Job]) -> list[str]:
    return [job.id for job in jobs]


@contextmanager
def raises(kind: type[BaseException]) -> Iterator[None]:
    """Fail unless the block raises `kind`; pytest's own is not there for every runner."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"expected {kind.__name__}")
