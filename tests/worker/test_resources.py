"""Resources: opened once per worker, handed to handlers by name, closed in reverse."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from windlass import Context, Depends, Resource, State, Windlass
from windlass.config import WorkerSettings
from windlass.core.codec import encode_call
from windlass.core.model import NewJob, Spec
from windlass.errors import InvalidArguments, StartupFailed
from windlass.middleware import Attempt, CallNext, Middleware
from windlass.testing.work import until, work


class Pool:
    def __init__(self, name: str) -> None:
        self.name = name
        self.is_open = True


def declare(app: Windlass, kind: str, notes: list[str]) -> Resource[Pool]:
    """The same resource, by each kind of function."""
    if kind == "async generator":

        @app.resource
        async def made() -> AsyncIterator[Pool]:
            notes.append("open")
            pool = Pool(kind)
            yield pool
            pool.is_open = False
            notes.append("close")
    elif kind == "generator":

        @app.resource
        def made() -> Iterator[Pool]:
            assert threading.current_thread() is not threading.main_thread()
            notes.append("open")
            pool = Pool(kind)
            yield pool
            pool.is_open = False
            notes.append("close")
    elif kind == "async function":

        @app.resource
        async def made() -> Pool:
            notes.append("open")
            return Pool(kind)
    else:

        @app.resource
        def made() -> Pool:
            notes.append("open")
            return Pool(kind)

    return made


@pytest.mark.parametrize("kind", ["async generator", "generator", "async function", "function"])
async def test_it_is_opened_once_per_worker_for_all_handlers(app: Windlass, kind: str) -> None:
    notes: list[str] = []
    db = declare(app, kind, notes)
    pools: list[Pool] = []

    @app.task
    async def on_the_loop(n: int, pool: Pool = Depends(db)) -> str:
        pools.append(pool)
        assert pool.is_open
        return f"{pool.name} {n}"

    @app.task(context=True)
    def in_a_thread(ctx: Context, n: int, *, pool: Pool = Depends(db)) -> str:
        pools.append(pool)
        assert pool.is_open
        return f"{pool.name} {n}"

    one, two = await on_the_loop.aenqueue(1), await in_a_thread.aenqueue(n=2)
    await on_the_loop.aenqueue(3)
    await work(app)
    assert await one.aresult(timeout=0) == f"{kind} 1"
    assert await two.aresult(timeout=0) == f"{kind} 2"
    assert len(pools) == 3 and len(set(pools)) == 1
    assert notes == (["open", "close"] if "generator" in kind else ["open"])
    await work(app)
    assert notes.count("open") == 2


async def test_resources_are_opened_after_what_they_need_and_closed_before(app: Windlass) -> None:
    notes: list[str] = []

    @app.resource
    def settings() -> dict[str, str]:
        notes.append("settings")
        return {"name": "shop"}

    @app.resource
    async def db(settings: dict[str, str] = Depends(settings)) -> AsyncIterator[str]:
        notes.append("open db")
        yield settings["name"]
        notes.append("close db")

    @app.resource
    def cache(*, db: str = Depends(db), size: int = 3) -> Iterator[str]:
        notes.append("open cache")
        yield f"{db} {size}"
        notes.append("close cache")

    @app.task
    async def use(cache: str = Depends(cache), db: str = Depends(db)) -> str:
        return f"{cache}, {db}"

    job = await use.aenqueue()
    await work(app)
    assert await job.aresult(timeout=0) == "shop 3, shop"
    assert notes == ["settings", "open db", "open cache", "close cache", "close db"]


async def test_what_nobody_needs_is_not_opened(app: Windlass) -> None:
    notes: list[str] = []
    declare(app, "generator", notes)

    @app.task
    async def job() -> None: ...

    await job.aenqueue()
    await work(app)
    assert notes == []


async def test_a_resource_is_closed_by_the_task_that_opened_it(app: Windlass) -> None:
    tasks: list[asyncio.Task[Any] | None] = []

    @app.resource
    async def group() -> AsyncIterator[asyncio.TaskGroup]:
        async with asyncio.timeout(3600), asyncio.TaskGroup() as group:
            tasks.append(asyncio.current_task())
            yield group
            tasks.append(asyncio.current_task())

    @app.task
    async def use(group: asyncio.TaskGroup = Depends(group)) -> int:
        return await group.create_task(asyncio.sleep(0, 42))

    job = await use.aenqueue()
    worker = await app.worker()
    await asyncio.create_task(worker.start())
    assert await job.aresult(timeout=20) == 42
    await asyncio.create_task(worker.stop())
    assert len(tasks) == 2 and tasks[0] is tasks[1]


async def test_if_one_cannot_be_opened_the_worker_does_not_start_and_the_others_are_closed(
    app: Windlass,
) -> None:
    notes: list[str] = []
    db = declare(app, "async generator", notes)

    @app.resource
    async def cache(db: Pool = Depends(db)) -> AsyncIterator[None]:
        raise ConnectionError("no route to the cache")
        yield

    @app.task
    async def use(cache: None = Depends(cache)) -> None: ...

    job = await use.aenqueue()
    worker = await app.worker()
    with pytest.raises(StartupFailed) as caught:
        await worker.start()
    assert str(caught.value) == (
        "The worker did not start: the resource cache failed: "
        "ConnectionError: no route to the cache"
    )
    assert notes == ["open", "close"]
    assert (await job.aget()).state is State.PENDING


async def test_a_start_that_is_cancelled_closes_what_was_opened(app: Windlass) -> None:
    notes: list[str] = []
    db = declare(app, "generator", notes)

    @app.resource
    async def slow(db: Pool = Depends(db)) -> AsyncIterator[None]:
        try:
            notes.append("waits")
            await asyncio.sleep(3600)
            yield
        finally:
            notes.append("gave up")

    @app.task
    async def use(slow: None = Depends(slow)) -> None: ...

    worker = await app.worker()
    starting = asyncio.create_task(worker.start())
    await until(lambda: "waits" in notes)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await until(lambda: "gave up" in notes)
    assert sorted(notes) == ["close", "gave up", "open", "waits"]


async def test_one_that_fails_or_hangs_while_closing_does_not_keep_the_others_open(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    notes: list[str] = []
    db = declare(app, "generator", notes)

    @app.resource
    async def failing(db: Pool = Depends(db)) -> AsyncIterator[None]:
        yield
        raise ConnectionError("gone already")

    @app.resource
    async def hanging(failing: None = Depends(failing)) -> AsyncIterator[None]:
        yield
        await asyncio.sleep(3600)

    @app.task
    async def use(hanging: None = Depends(hanging)) -> None: ...

    await use.aenqueue()
    await work(app, WorkerSettings(hook_timeout=1))
    assert notes == ["open", "close"]
    assert "closing the resource failing failed" in caplog.text
    assert "closing the resource hanging took longer than 1 s" in caplog.text


async def test_an_iterator_must_be_yielded_not_returned(app: Windlass) -> None:
    @app.resource
    def lines() -> Iterator[str]:
        return iter(["a"])

    @app.task
    async def use(line: str = Depends(lines)) -> None: ...

    worker = await app.worker()
    with pytest.raises(StartupFailed, match="lines returned an iterator; it must yield it instead"):
        await worker.start()


async def test_enqueue_does_not_know_the_parameter(app: Windlass) -> None:
    notes: list[str] = []
    db = declare(app, "function", notes)

    @app.task
    async def send(user: int, pool: Pool = Depends(db)) -> None: ...

    @app.task
    async def collect(user: int, *, pool: Pool = Depends(db), **more: int) -> None: ...

    assert repr(send) == "<Task send(user: int)>"
    for task in (send, collect):
        with pytest.raises(InvalidArguments, match="got 'pool', which is left to the worker"):
            task.aenqueue(1, pool=Pool("mine"))
    with pytest.raises(InvalidArguments, match="too many positional arguments"):
        send.aenqueue(1, Pool("mine"))
    assert await (await app.client.store()).queues() == []


async def test_a_stored_job_cannot_bring_its_own(app: Windlass) -> None:
    db = declare(app, "function", [])

    @app.task
    async def send(user: int, pool: Pool = Depends(db)) -> None: ...

    codec = app.codecs.default
    payload = encode_call(codec, (1,), {"pool": "forged"})
    store = await app.client.store()
    await store.insert([NewJob("forged", Spec("send", payload, codec.name))])
    await work(app)
    job = (await store.get(["forged"]))["forged"]
    assert job.state is State.DEAD
    assert job.error is not None and "which is left to the worker" in job.error.message


async def test_middleware_does_not_see_resources_and_can_replace_one(app: Windlass) -> None:
    db = declare(app, "function", [])

    class Shard(Middleware):
        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            assert (attempt.args, attempt.kwargs) == ([7], {})
            attempt.kwargs["pool"] = Pool("shard 7")
            return await call_next()

    app.add_middleware(Shard())

    @app.task
    async def look(user: int, pool: Pool = Depends(db)) -> str:
        return pool.name

    job = await look.aenqueue(7)
    await work(app)
    assert await job.aresult(timeout=0) == "shard 7"


async def test_a_task_that_is_declared_after_the_start_fails_with_the_reason(
    app: Windlass,
) -> None:
    db = declare(app, "function", [])
    worker = await app.worker()
    await worker.start()

    @app.task(max_retries=0)
    async def late(pool: Pool = Depends(db)) -> None: ...

    job = await late.aenqueue()
    await until_finished(app, job.id)
    await worker.stop()
    error = (await job.aget()).error
    assert error is not None
    assert "late() needs 'pool', a resource that a worker opens when it starts" in error.message


async def until_finished(app: Windlass, id: str) -> None:
    store = await app.client.store()
    async with asyncio.timeout(20):
        while (await store.get([id]))[id].state is not State.DEAD:
            await asyncio.sleep(0.005)
