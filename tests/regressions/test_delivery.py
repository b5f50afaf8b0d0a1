"""Pains of delivery: late, lost, twice. Each is impossible here, and this is the proof."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from windlass import Context, State, Windlass
from windlass.config import WorkerSettings
from windlass.core.lane import Lane
from windlass.core.model import NewJob, Spec
from windlass.errors import ResultTimeout, UnknownJob
from windlass.scheduler.rescuer import Rescuer
from windlass.stores.contract import Store
from windlass.testing.clock import FakeClock
from windlass.testing.faults import FaultyStore
from windlass.testing.jobs import claim, claim_one, finish, ids, job_of, put, state_of
from windlass.testing.work import until, work
from windlass.worker.worker import Worker

QUICK = WorkerSettings(lease=1.0, rescue_interval=0.05)
ONE = WorkerSettings(concurrency=1)


async def test_a_delayed_job_longer_than_any_lease_runs_once(
    store: Store, clock: FakeClock, rescuer: Rescuer
) -> None:
    """A delay that is waited for under a lease ends with the lease, again and again."""
    await put(store, "a", delay=3_600_000)
    for _ in range(119):
        clock.advance(30)
        assert await claim(store, lease=1_000) == []
        assert await rescuer.rescue() == 0
    clock.advance(30)
    job = await claim_one(store)
    assert job.attempt == 1
    assert await finish(store, job, State.COMPLETED)
    assert await claim(store) == []


async def test_what_a_worker_had_not_finished_is_not_acknowledged_by_default(
    app: Windlass, store: Store, clock: FakeClock, rescuer: Rescuer
) -> None:
    """Acknowledged when it is fetched, a job is gone with its worker."""

    @app.task
    async def plain() -> str:
        return "done"

    handle = await plain.aenqueue()
    await claim_one(store, worker="killed")
    clock.advance(60)
    assert await rescuer.rescue() == 1
    clock.advance(60)
    await work(app)
    assert await handle.aresult() == "done"
    assert (await handle.aget()).attempt == 1


async def test_a_worker_goes_on_by_itself_after_the_store_was_away(live: Windlass) -> None:
    """A worker that looks alive and fetches nothing any more."""

    @live.task
    async def echo(word: str) -> str:
        return word

    store = FaultyStore(await live.client.store())
    worker = Worker(live.registry, live.codecs, store, QUICK)
    await worker.start()
    try:
        assert await (await echo.aenqueue("before")).aresult(timeout=20) == "before"
        store.down = True
        calls = store.calls["claim"]
        late = await echo.aenqueue("after")
        await until(lambda: store.calls["claim"] >= calls + 2)
        store.down = False
        assert await late.aresult(timeout=20) == "after"
    finally:
        await worker.stop()


async def test_a_crashed_job_is_back_when_its_lease_is_over_though_nothing_else_happens(
    live: Windlass,
) -> None:
    """Recovery after minutes, by chance, or when the next job comes."""

    @live.task(context=True, backoff=0)
    async def orphan(ctx: Context) -> int:
        return ctx.attempt

    handle = await orphan.aenqueue()
    store = await live.client.store()
    await store.claim({"default": 1}, 1, 500, "crashed")
    worker = await live.worker(QUICK)
    await worker.start()
    try:
        assert await handle.aresult(timeout=20) == 1
    finally:
        await worker.stop()


PROGRAM = """
import asyncio, sys, time
from pathlib import Path
from windlass import Windlass
from windlass.config import WorkerSettings

app = Windlass(sys.argv[1])

@app.task(name="mark")
def mark() -> None:
    Path(sys.argv[2]).touch()
    time.sleep(3600)

async def main():
    worker = await app.worker(WorkerSettings(lease=1.0))
    await worker.start()
    await asyncio.sleep(3600)

asyncio.run(main())
"""


async def test_kill_9_of_a_worker_loses_no_running_job(tmp_path: Path) -> None:
    """Popped before it is leased, what runs is lost by every crash and deploy."""
    url, mark = f"sqlite:///{tmp_path}/jobs.db", tmp_path / "running"
    app = Windlass(url)

    @app.task(name="mark", context=True, backoff=0)
    async def again(ctx: Context) -> int:
        return ctx.attempt

    # It leads from the start: the killed one would have kept that for some seconds.
    leader = await app.worker(WorkerSettings(queues=("none",), rescue_interval=0.05))
    await leader.start()
    handle = await again.aenqueue()
    with subprocess.Popen([sys.executable, "-c", PROGRAM, url, str(mark)]) as process:
        try:
            await until(mark.exists, timeout=40)
        finally:
            process.send_signal(signal.SIGKILL)
    worker = await app.worker(QUICK)
    await worker.start()
    try:
        assert await handle.aresult(timeout=30) == 1
    finally:
        await worker.stop()
        await leader.stop()
        await app.aclose()


async def test_short_jobs_do_not_wait_behind_a_long_one_while_another_worker_is_idle(
    live: Windlass,
) -> None:
    """Fetched in advance, they belong to a worker that has no time for them."""
    running, go_on = asyncio.Event(), asyncio.Event()

    @live.task
    async def long() -> None:
        running.set()
        await go_on.wait()

    @live.task
    async def short() -> str:
        return "quick"

    busy, idle = await live.worker(ONE), await live.worker(ONE)
    first = await long.aenqueue()
    await busy.start()
    async with asyncio.timeout(20):
        await running.wait()
    shorts = await live.aenqueue_many([short.call() for _ in range(20)])
    await idle.start()
    try:
        for handle in shorts:
            assert await handle.aresult(timeout=20) == "quick"
        assert (await first.aget()).state is State.ACTIVE
    finally:
        go_on.set()
        await busy.stop()
        await idle.stop()


async def test_a_limit_holds_over_all_workers_and_burns_no_slot_of_theirs(
    store: Store, clock: FakeClock
) -> None:
    """A rate for each worker is none for all of them."""
    spec = Spec("t", b"", lane=Lane("l", starts=2, per=1_000, burst=2))
    await put(store, *(f"j{n}" for n in range(6)), spec=spec)
    await put(store, "free")
    for most in (3, 2, 2):
        found = [ids(await claim(store, worker=f"w{n}")) for n in range(3)]
        assert sum(map(len, found)) == most
        clock.advance(1)


async def test_a_cancelled_job_stays_cancelled_and_a_running_one_is_stopped(
    live: Windlass,
) -> None:
    """A list of cancelled jobs in the memory of workers is gone with them."""
    running, stopped = asyncio.Event(), asyncio.Event()

    @live.task
    async def endless() -> None:
        running.set()
        try:
            await asyncio.sleep(3600)
        finally:
            stopped.set()

    waits, runs = await endless.using(delay=3600).aenqueue(), await endless.aenqueue()
    await waits.acancel()
    worker = await live.worker(WorkerSettings(lease=0.4))
    await worker.start()
    async with asyncio.timeout(20):
        await running.wait()
        await runs.acancel()
        await stopped.wait()
    await worker.stop()
    await work(live)
    for handle in (waits, runs):
        assert (await handle.aget()).state is State.CANCELLED


async def test_a_job_that_nobody_knows_is_told_from_one_that_waits(app: Windlass) -> None:
    """A state that also means "never heard of it" is waited for without end."""

    @app.task
    async def idle() -> None: ...

    waits = await idle.aenqueue()
    assert (await waits.aget()).state is State.PENDING
    with pytest.raises(ResultTimeout):
        await waits.aresult(timeout=0.01)
    with pytest.raises(UnknownJob):
        await app.job("never heard of it").aresult()


async def test_priorities_are_strict_over_all_that_waits(store: Store, clock: FakeClock) -> None:
    """Priorities that hold only within what a worker has fetched."""
    await put(store, *(f"low{n}" for n in range(200)), priority=10)
    await put(store, "later", priority=100, delay=1_000)
    await put(store, "high", priority=90)
    assert ids(await claim(store, 1)) == ["high"]
    clock.advance(1)
    assert ids(await claim(store, 2)) == ["later", "low0"]


async def test_a_job_of_a_task_that_comes_with_the_next_deploy_waits_for_it(
    app: Windlass, store: Store, clock: FakeClock
) -> None:
    """Dropped by a worker that does not know its name."""
    await store.insert([NewJob("new", Spec("coming", b"\x93\x01\x90\x80", max_retries=0))])
    await work(app)
    job = await job_of(store, "new")
    assert (job.state, job.attempt) == (State.SCHEDULED, 0)

    @app.task(name="coming")
    async def coming() -> None: ...

    clock.advance(60)
    await work(app)
    assert await state_of(store, "new") is State.COMPLETED


async def test_a_stop_gives_back_what_was_not_finished_and_counts_no_attempt(
    live: Windlass,
) -> None:
    """Held until a lease ends, or lost, because a machine was told to stop."""
    running = asyncio.Event()

    @live.task
    async def long() -> None:
        running.set()
        await asyncio.sleep(3600)

    handles = await live.aenqueue_many([long.call() for _ in range(3)])
    worker = await live.worker(WorkerSettings(concurrency=1, shutdown_timeout=0))
    await worker.start()
    async with asyncio.timeout(20):
        await running.wait()
    await worker.stop()
    for handle in handles:
        job = await handle.aget()
        assert (job.state, job.attempt) == (State.PENDING, 0)
