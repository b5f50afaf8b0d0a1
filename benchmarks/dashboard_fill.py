"""A store with a million jobs in it, of every state, and all else that a dashboard shows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice

import uvloop
from msgspec.structs import replace

from windlass import Windlass, group
from windlass.core.attempts import AttemptRecord, LogLine
from windlass.core.codec import MSGPACK, encode_call
from windlass.core.lane import Lane
from windlass.core.model import Failure, Job, NewJob, Spec
from windlass.core.schedule import schedule_of
from windlass.core.states import State
from windlass.core.stats import Tally, timed
from windlass.core.workers import WorkerInfo
from windlass.stores.contract import Store

from .jobs import nothing

QUEUES = tuple(f"queue-{number:02}" for number in range(20))
TASKS = (*(f"shop.task_{number:02}" for number in range(19)), "nothing")
SHARES = {
    State.PENDING: 40,
    State.SCHEDULED: 10,
    State.RETRY: 2,
    State.DEAD: 8,
    State.COMPLETED: 35,
    State.CANCELLED: 5,
}
BATCH = 500
AT_ONCE = 4
WORKERS = 50
SCHEDULES = 50
LANES = 300
WORKFLOW = "workflow"
MEMBERS = 200
TALKATIVE = "talkative"
LINES = 100
HOUR = 3_600_000


def fill(url: str, number: int) -> None:
    """Fill an empty store."""
    uvloop.run(_fill(url, number))


async def _fill(url: str, number: int) -> None:
    app = Windlass(url)
    step = app.task(nothing).step
    store = await app.client.store()
    await _restore(store, number)
    await _surround(store)
    part = group(*(step(user_id=n, email="a@example.com") for n in range(MEMBERS)))
    await app.aenqueue_workflow(part, id=WORKFLOW)
    await app.aclose()


async def _restore(store: Store, number: int) -> None:
    """By the way of a move: the only one by which jobs come to a store in other states."""
    now = await store.now()
    left = _jobs(number, now)

    async def some() -> None:
        while jobs := list(islice(left, BATCH)):
            await store.restore(jobs)

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


def _jobs(number: int, now: int) -> Iterator[Job]:
    states = [state for state, share in SHARES.items() for _ in range(share)]
    for n in range(number):
        yield _job(n, states[n % len(states)], now)


def _job(n: int, state: State, now: int) -> Job:
    # By another number than the state, or each state would have some queues only.
    task, queue = TASKS[n // 7 % len(TASKS)], QUEUES[n // 101 % len(QUEUES)]
    payload = encode_call(MSGPACK, (), {"user_id": n, "email": f"{n % 10_000}@example.com"})
    labels = {"customer": str(n % 5_000)} if n % 10 == 0 else None
    ended = state in (State.DEAD, State.COMPLETED, State.CANCELLED)
    failed = state in (State.DEAD, State.RETRY)
    kind = n // 100 % 40
    return Job(
        f"job-{n:07}",
        Spec(task, payload, labels=labels, keep=24 * HOUR),
        queue,
        state,
        50 if n % 10 else 75,
        now - 2 * HOUR,
        now + HOUR + n if state in (State.SCHEDULED, State.RETRY) else now - 2 * HOUR,
        attempt=int(ended or failed),
        fence=1 + n if ended or failed else 0,
        worker="worker-01" if ended or failed else None,
        started_at=now - HOUR + n // 1_000 if ended else None,
        finished_at=now - HOUR + n // 500 if ended else None,
        error=Failure("ValueError", f"fault {'abcdefghij'[kind % 10] * 3} of order {n}", "x" * 500)
        if failed
        else None,
    )


async def _surround(store: Store) -> None:
    now = await store.now()
    for n in range(WORKERS):
        queues = QUEUES[n % 5 :: 5]
        info = WorkerInfo(f"worker-{n:02}", "host", n, queues, 10, now, memory=10**8)
        await store.beat(info, 24 * HOUR)
    spec = Spec("nothing", encode_call(MSGPACK, (), {"user_id": 1, "email": "a@example.com"}))
    schedules = [
        schedule_of(f"schedule-{n:02}", f"{n} * * * *", NewJob("", spec, fresh=True))
        for n in range(SCHEDULES)
    ]
    await store.put_schedules(schedules)
    lanes = [Lane(f"limit:dock-{n:03}", slots=1) for n in range(LANES)]
    waiting = [
        NewJob(f"lane-{n}-{m}", Spec("nothing", spec.payload, lane=lane), QUEUES[n % 2])
        for n, lane in enumerate(lanes)
        for m in range(3)
    ]
    await store.insert(waiting)
    await store.insert([NewJob(TALKATIVE, spec, QUEUES[0])])
    await store.note_attempts(_attempts(now), 24 * HOUR)
    await store.tally("worker-01", 1, [Tally(queue, _counts()) for queue in QUEUES])


def _attempts(now: int) -> Sequence[AttemptRecord]:
    lines = tuple(LogLine(now, "INFO", "shop", "a line of some length " * 4) for _ in range(LINES))
    one = AttemptRecord(TALKATIVE, QUEUES[0], 1, 1, "worker-01", now, now + 5, lines=lines)
    return [replace(one, fence=n, attempt=n, state=State.RETRY) for n in range(1, 11)]


def _counts() -> dict[str, int]:
    durations = {timed("run", 0.004 * 2**n): 100 for n in range(10)}
    waits = {timed("wait", 0.004 * 2**n): 100 for n in range(10)}
    return {"completed": 1_000, "failed": 50, "retried": 40, "dead": 10, **durations, **waits}
