"""Leases while handlers run: renewed, lost, rescued."""

import asyncio

from windlass import Context, State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import JobQuery, NewJob, Spec
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.faults import FaultyStore
from windlass.testing.work import until, work
from windlass.worker.worker import Worker

QUICK = WorkerSettings(lease=1.0, rescue_interval=0.05)


async def test_a_long_job_keeps_its_lease_and_runs_once(app: Windlass) -> None:
    runs: list[int] = []
    store = FaultyStore(await app.client.store())

    @app.task(context=True)
    async def long(ctx: Context) -> None:
        runs.append(ctx.attempt)
        await until(lambda: store.calls["renew"] >= 6)

    job = await long.aenqueue()
    worker = Worker(app.registry, app.codecs, store, QUICK)
    other = await app.worker(QUICK)
    await worker.start()
    await until(lambda: bool(runs))
    await other.start()
    await job.aresult(timeout=20)
    await worker.stop()
    await other.stop()
    assert runs == [1]


async def test_a_job_cancelled_while_it_runs_is_stopped_and_stays_cancelled(app: Windlass) -> None:
    running, stopped = asyncio.Event(), asyncio.Event()

    @app.task
    async def endless() -> None:
        running.set()
        try:
            await asyncio.sleep(3600)
        finally:
            stopped.set()

    job = await endless.aenqueue()
    worker = await app.worker(WorkerSettings(lease=0.4))
    await worker.start()
    async with asyncio.timeout(20):
        await running.wait()
        await job.acancel()
        await stopped.wait()
    await worker.stop()
    found = await job.aget()
    assert (found.state, found.attempt) == (State.CANCELLED, 1)


async def test_a_worker_that_lost_its_lease_cannot_complete_the_job(app: Windlass) -> None:
    running, go_on = asyncio.Event(), asyncio.Event()

    @app.task
    async def slow() -> str:
        running.set()
        await go_on.wait()
        return "late"

    job = await slow.aenqueue()
    worker = await app.worker(WorkerSettings(lease=600, concurrency=1))
    await worker.start()
    async with asyncio.timeout(20):
        await running.wait()
    store = await app.client.store()
    await store.cancel([job.id])
    await store.replay([job.id])
    [owned] = await store.claim({"default": 1}, 1, 60_000, "another worker")
    go_on.set()
    await worker.stop()
    found = await job.aget()
    assert (found.state, found.fence, found.result) == (State.ACTIVE, owned.fence, None)


async def test_a_job_can_come_back_while_its_lost_attempt_still_runs(app: Windlass) -> None:
    gates = {1: asyncio.Event(), 2: asyncio.Event()}
    runs: list[int] = []
    ended: list[int] = []

    @app.task
    async def slow() -> int:
        runs.append(len(runs) + 1)
        mine = runs[-1]
        await gates[mine].wait()
        ended.append(mine)
        return mine

    job = await slow.aenqueue()
    worker = await app.worker(WorkerSettings(lease=600, concurrency=2))
    await worker.start()
    await until(lambda: runs == [1])
    store = await app.client.store()
    await store.cancel([job.id])
    await store.replay([job.id])
    await until(lambda: runs == [1, 2])
    gates[1].set()
    await until(lambda: ended == [1])
    assert (await job.aget()).state is State.ACTIVE
    gates[2].set()
    assert await job.aresult(timeout=20) == 2
    await worker.stop()


async def test_a_crash_costs_no_attempt_and_a_job_that_kills_workers_dies() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    app = Windlass("memory://")

    @app.task
    def killer() -> None: ...

    await store.insert([NewJob("k", Spec("killer", b"", max_retries=2))])
    leader = Leader(store, "me")
    leader.is_leader = True
    rescuer = Rescuer(store, app.registry, leader, 5.0, "rescuer")
    attempts = []
    for _ in range(3):
        clock.advance(700)
        [job] = await store.claim({"default": 1}, 1, 30_000, "doomed")
        attempts.append(job.attempt)
        assert await rescuer.rescue() == 0
        clock.advance(30)
        assert await rescuer.rescue() == 1
        assert await rescuer.rescue() == 0
    dead = (await store.get(["k"]))["k"]
    assert attempts == [1, 1, 1]
    assert (dead.state, dead.attempt, dead.lost) == (State.DEAD, 0, 3)
    assert dead.error is not None and dead.error.kind == "LeaseExpired"


async def test_a_rescuer_decides_for_tasks_that_it_does_not_know() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    await store.insert([NewJob("x", Spec("elsewhere", b""))])
    await store.claim({"default": 1}, 1, 1_000, "gone")
    clock.advance(2)
    leader = Leader(store, "me")
    assert await Rescuer(store, Windlass("memory://").registry, leader, 5.0, "r").rescue() == 1
    assert (await store.get(["x"]))["x"].state is State.RETRY


async def test_a_backoff_function_that_fails_keeps_no_job_from_being_rescued() -> None:
    """It is asked without an error, which not every function expects."""
    clock = FakeClock()
    store = MemoryStore(clock)
    app = Windlass("memory://")

    @app.task(backoff=lambda n, error: error.wait)  # type: ignore[union-attr]
    def picky() -> None: ...

    @app.task
    def plain() -> None: ...

    await store.insert([NewJob(name, Spec(name, b"")) for name in ("picky", "plain")])
    await store.claim({"default": 2}, 2, 1_000, "gone")
    clock.advance(2)
    assert await Rescuer(store, app.registry, Leader(store, "me"), 5.0, "r").rescue() == 2
    jobs = await store.get(["picky", "plain"])
    assert {job.state for job in jobs.values()} == {State.RETRY}


async def test_a_rescue_is_found_by_a_worker_within_seconds(app: Windlass) -> None:
    store = await app.client.store()

    @app.task(context=True, backoff=0)
    async def orphan(ctx: Context) -> int:
        return ctx.attempt

    job = await orphan.aenqueue()
    await store.claim({"default": 1}, 1, 1, "crashed")
    worker = await app.worker(QUICK)
    await worker.start()
    assert await job.aresult(timeout=20) == 1
    await worker.stop()


async def test_two_upkeeps_at_once_rescue_each_job_once() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    await store.insert([NewJob(f"j{n}", Spec("x", b"")) for n in range(150)])
    await store.claim({"default": 150}, 150, 1_000, "gone")
    clock.advance(2)
    registry = Windlass("memory://").registry
    rescuers = [Rescuer(store, registry, Leader(store, n), 5.0, n) for n in ("a", "b")]
    assert sorted(await asyncio.gather(*(each.rescue() for each in rescuers))) == [50, 100]
    page = await store.find(JobQuery(states=(State.RETRY,), limit=500))
    assert {(job.attempt, job.lost) for job in page.jobs} == {(0, 1)} and len(page.jobs) == 150


async def test_old_jobs_are_pruned_by_the_leader(app: Windlass) -> None:
    @app.task(keep=0.01)
    def brief() -> None: ...

    await app.aenqueue_many([brief.call() for _ in range(20)])
    await work(app)
    store = await app.client.store()
    worker = await app.worker(WorkerSettings(prune_interval=0.02))
    await worker.start()
    async with asyncio.timeout(20):
        while await store.queues():
            await asyncio.sleep(0.01)
    await worker.stop()
