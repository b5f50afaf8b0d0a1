"""Faults of what goes around a queue: growth, time, slots, stops. Each is impossible here."""

import asyncio
import tempfile
from itertools import count
from typing import Any

import pytest

from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.lane import Lane
from windlass.core.model import Spec
from windlass.errors import WindlassError
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.scheduler.ticker import Ticker
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.stores.sqlite.store import SqliteStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import (
    claim,
    claim_one,
    finish,
    ids,
    listing,
    put,
    state_of,
)
from windlass.testing.work import work
from windlass.worker import fetcher

ONE = WorkerSettings(concurrency=1)


async def test_a_claim_asks_the_engine_no_more_when_more_jobs_wait() -> None:
    """Work that grows with the backlog is slowest when there is most to do."""
    steps = [await steps_of_a_claim(waiting) for waiting in (20, 4_000)]
    assert steps[1] < 4 * steps[0]


async def steps_of_a_claim(waiting: int) -> int:
    """How many steps SQLite takes to hand out one job."""
    steps = count()
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/jobs.db", blocking=True)
        assert isinstance(store, SqliteStore)
        await store.open()
        await put(store, *(f"j{n}" for n in range(waiting)))
        direct = store._file._direct
        assert direct is not None
        direct.raw.set_progress_handler(lambda: next(steps) and None, 1)
        await claim_one(store)
        direct.raw.set_progress_handler(None, 1)
        await store.close()
    return next(steps)


VALUES: list[Any] = [
    [],
    {},
    2**63,
    -(2**63),
    0.1,
    1e300,
    -0.0,
    "",
    "\0é💥",
    b"\xff\0",
    None,
    [[{}]],
]


async def test_arguments_come_back_as_they_were_given(app: Windlass) -> None:
    """Encoded again on the way, an empty list becomes an object and a large number another."""

    @app.task
    async def mirror(value: Any) -> Any:
        return value

    handles = await app.aenqueue_many([mirror.call(value) for value in VALUES])
    await work(app)
    found = [await handle.aresult() for handle in handles]
    assert [repr(value) for value in found] == [repr(value) for value in VALUES]


async def test_a_job_that_waits_longer_than_anything_is_kept_is_still_there(
    app: Windlass, store: Store, clock: FakeClock
) -> None:
    """A time to live on work that is not done yet is a loss with a date."""

    @app.task(keep=1)
    async def later() -> str:
        return "at last"

    handle = await later.using(delay=40 * 24 * 3600).aenqueue()
    for _ in range(40):
        assert await store.prune(100) == 0
        clock.advance(24 * 3600)
    await work(app)
    assert await handle.aresult() == "at last"


async def test_concurrency_priority_and_timeout_do_what_they_say(live: Windlass) -> None:
    """What can be set and is wired to nothing."""
    order: list[str] = []
    running: list[int] = [0, 0]

    @live.task
    async def note(word: str) -> None:
        running[0] += 1
        running[1] = max(running)
        order.append(word)
        await asyncio.sleep(0.01)
        running[0] -= 1

    @live.task(timeout=0.05, max_retries=0)
    async def endless() -> None:
        await asyncio.sleep(3600)

    for priority, word in ((10, "low"), (90, "high"), (50, "middle")):
        await note.using(priority=priority).aenqueue(word)
    stuck = await endless.using(priority=0).aenqueue()
    await work(live, ONE)
    assert order == ["high", "middle", "low"]
    assert running[1] == 1
    assert (await stuck.aget()).state is State.DEAD


async def test_a_crash_gives_its_slot_and_its_key_back(
    store: Store, clock: FakeClock, rescuer: Rescuer
) -> None:
    """A counter that a dead worker should have lowered stays up for ever."""
    spec = Spec("t", b"", max_retries=0, lane=Lane("l", slots=1))
    await put(store, "crashed", spec=spec, unique="key")
    await put(store, "next", spec=spec)
    assert ids(await claim(store)) == ["crashed"]
    assert await claim(store) == []
    clock.advance(60)
    assert await rescuer.rescue() == 1
    assert await state_of(store, "crashed") is State.DEAD
    assert ids(await claim(store)) == ["next"]
    await put(store, "same-key", unique="key")


async def test_each_tick_of_a_schedule_is_a_job_of_its_own_whoever_looks_and_after_a_restart(
    app: Windlass, store: Store, clock: FakeClock
) -> None:
    """Schedules in the memory of one process, with one id for every run."""

    @app.cron("@every 60s")
    async def beat() -> None: ...

    made: list[str] = []
    for _ in range(3):
        leader = Leader(store, "me")
        leader.is_leader = True
        restarted = Ticker(store, leader, dict(app.registry.schedules))
        await store.put_schedules(list(app.registry.schedules.values()))
        clock.advance(60)
        await restarted.attend()
        await restarted.attend()
        made = ids(await listing(store))
    assert len(made) == len(set(made)) == 3


async def test_a_stop_lets_a_job_that_ends_meanwhile_be_written_down(live: Windlass) -> None:
    """A shutdown that cancels what the last write needs."""
    running, go_on = asyncio.Event(), asyncio.Event()

    @live.task
    async def slow() -> str:
        running.set()
        await go_on.wait()
        return "written"

    handle = await slow.aenqueue()
    worker = await live.worker(ONE)
    await worker.start()
    async with asyncio.timeout(20):
        await running.wait()
        stopping = asyncio.create_task(worker.stop())
        await asyncio.sleep(0)
        go_on.set()
        await stopping
    job = await handle.aget()
    assert (job.state, job.attempt) == (State.COMPLETED, 1)


async def test_a_retry_keeps_its_priority(store: Store) -> None:
    """Put back at the usual priority, what was urgent is last."""
    await put(store, "urgent", priority=90)
    job = await claim_one(store)
    await put(store, "usual")
    assert await finish(store, job, State.RETRY)
    assert ids(await claim(store)) == ["urgent", "usual"]


async def test_empty_queues_keep_no_job_of_another_waiting(
    live: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One blocking wait for each queue adds up."""
    monkeypatch.setattr(fetcher, "LONGEST_WAIT", 600.0)

    @live.task(queue="last")
    async def quick() -> str:
        return "in time"

    worker = await live.worker(WorkerSettings(queues=("a", "b", "c", "last")))
    await worker.start()
    try:
        handle = await quick.aenqueue()
        assert await handle.aresult(timeout=20) == "in time"
    finally:
        await worker.stop()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://h/db?schema=a;DROP TABLE jobs",
        'postgresql://h/db?schema=a"b',
        "mysql://h/db?namespace=a`; DROP TABLE jobs",
        "redis://h?namespace={a}",
    ],
)
def test_a_namespace_that_could_be_more_than_a_name_is_refused(url: str) -> None:
    """A query that is built from a namespace runs what is written in it."""
    with pytest.raises(WindlassError):
        open_store(url)
