"""Producers without an app: blocking, async, over HTTP and on a store of their own."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import windlass
from tests.server.serving import EVERY_QUEUE, Served, served
from tests.server.shop import Shop
from windlass import Connection, Middleware, Windlass, chain, connect
from windlass.core.codec import JSON
from windlass.core.model import NewJob
from windlass.errors import (
    Forbidden,
    InvalidOption,
    JobFailed,
    PayloadTooLarge,
    UnknownTask,
    Veto,
    WouldBlock,
    WrongState,
)

SOURCE = str(Path(__file__).parents[2] / "src")


@asynccontextmanager
async def shop() -> AsyncIterator[Served]:
    """A server of the shop, and a worker."""
    app = Shop()
    worker = await app.worker(EVERY_QUEUE)
    await worker.start()
    try:
        async with served(app) as api:
            yield api
    finally:
        app.opened.set()
        await worker.stop()
        await app.aclose()


async def test_an_async_producer_needs_nothing_but_a_name() -> None:
    async with shop() as api, connect(api.url) as client:
        add = client.task("add", queue="sums")
        job = await add.aenqueue(1, b=2)
        assert await job.aresult(30) == 3
        assert (await job.aget()).queue == "sums"
        assert await client.job(job.id).aresult(30) == 3
        same = await add.using(id=job.id).aenqueue(5)
        assert (same.id, same.duplicate) == (job.id, True)
        many = await client.aenqueue_many([add.call(n, n) for n in range(50)])
        assert [await each.aresult(30) for each in many] == [2 * n for n in range(50)]
        failed = await client.task("refuse", max_retries=0).aenqueue("never")
        with pytest.raises(JobFailed, match="never"):
            await failed.aresult(30)


async def test_signals_and_workflows_go_the_same_way() -> None:
    async with shop() as api, connect(api.url) as client:
        listening = await client.task("listen").aenqueue()
        await client.asignal(listening, "word", "hello")
        assert await listening.aresult(30) == "heard hello"
        with pytest.raises(WrongState, match="completed already"):
            await listening.asignal("word", "again")
        add = client.task("add")
        flow = await client.aenqueue_workflow(chain(add.step(1), add.step(), add.step(10)))
        assert await flow.aresult(30) == 15
        assert await client.workflow(flow.id).aresult(30) == 15
        with pytest.raises(UnknownTask):
            await client.aenqueue_workflow(add.step(1), on_success=client.task("nobody").step())
        named = await client.aenqueue_workflow(
            client.task("greet").step("Ada"), on_success=client.task("greet").step()
        )
        assert await named.aresult(30) == "Hello, Ada!"
        assert await client.job(f"{named.id}:success").aresult(30) == "Hello, Hello, Ada!!"


async def test_a_blocking_producer_does_the_same() -> None:
    def produce(url: str) -> None:
        with connect(url) as client:
            add = client.task("add", queue="sums", priority="high")
            job = add.enqueue(40, b=2)
            assert job.result(30) == 42
            assert job.get().priority == 75
            many = client.enqueue_many([add.call(n) for n in range(10)])
            assert [each.result(30) for each in many] == [n + 2 for n in range(10)]
            listening = client.task("listen").enqueue()
            client.signal(listening, "word", "hello")
            assert listening.result(30) == "heard hello"
            later = add.using(delay=3600).enqueue(1)
            later.cancel()
            with pytest.raises(WrongState):
                later.cancel()
            flow = client.enqueue_workflow(chain(add.step(1), add.step()))
            assert flow.result(30) == 5

    async with shop() as api:
        await asyncio.to_thread(produce, api.url)


async def test_blocking_calls_are_refused_in_async_code() -> None:
    client = connect("http://localhost")
    with pytest.raises(WouldBlock, match="aenqueue"):
        client.task("add").enqueue(1)
    client.close()


async def test_what_the_server_refuses_is_raised_here_and_nothing_is_stored() -> None:
    async with shop() as api:
        key = await api.add_key("enqueue", queues=("sums",))
        async with connect(api.url, key=key, max_payload=10_000_000) as client:
            with pytest.raises(UnknownTask, match="nobody"):
                await client.task("nobody", queue="sums").aenqueue()
            with pytest.raises(Forbidden, match="bound to sums"):
                await client.task("add").aenqueue(1)
            with pytest.raises(PayloadTooLarge, match=r"limit is 1,048,576"):
                await client.task("greet", queue="sums").aenqueue("x" * 2_000_000)
            with pytest.raises(Forbidden, match="role read"):
                await client.job("a").aresult()
            good = await client.task("add", queue="sums").aenqueue(1)
        assert await api.number() == 1
        assert list(await api.store.get([good.id])) == [good.id]


def test_what_is_wrong_here_is_told_before_anything_is_sent() -> None:
    client = connect("http://localhost:1")
    with pytest.raises(InvalidOption, match="did you mean priority"):
        client.task("add", priorty=1)  # type: ignore[call-arg]
    with pytest.raises(InvalidOption, match="name of a task"):
        client.task("")
    with pytest.raises(InvalidOption, match="max_payload"):
        connect("http://localhost", max_payload=0)
    with pytest.raises(InvalidOption, match="not both"):
        connect("http://:one@localhost", key="two")
    with pytest.raises(InvalidOption, match="key is for a server"):
        connect("redis://localhost", key="wl_key")
    with pytest.raises(InvalidOption, match="characters that no key has"):
        connect("http://localhost", key="wl_\r\nHost: other")


async def test_the_key_can_come_by_three_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shop() as api:
        key = await api.add_key("enqueue")
        in_url = api.url.replace("://", f"://:{key}@")
        for n, client in enumerate((connect(api.url, key=key), connect(in_url))):
            assert key not in repr(client)
            async with client:
                await client.task("add").using(id=f"job-{n}").aenqueue(1)
        monkeypatch.setenv("WINDLASS_API_KEY", key)
        async with connect(api.url) as client:
            await client.task("add").using(id="job-2").aenqueue(1)
        assert await api.number() == 3


async def test_workers_in_other_languages_get_json() -> None:
    app = Windlass("memory://")
    async with served(app, has_tasks=False) as api, connect(api.url, codec=JSON) as client:
        job = await client.task("resize").aenqueue("cat.jpg", width=640)
        stored = (await api.store.get([job.id]))[job.id]
        assert stored.spec.content_type == "json"
        assert stored.spec.payload == b'[1,["cat.jpg"],{"width":640}]'
    await app.aclose()


async def test_middleware_is_that_of_the_producer() -> None:
    class OnlySums(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            if job.spec.task != "add":
                raise Veto("it is no sum")
            return job

    async with shop() as api, connect(api.url, middleware=[OnlySums()]) as client:
        await client.task("add").aenqueue(1)
        with pytest.raises(Veto, match="it is no sum"):
            await client.task("greet").aenqueue("Ada")


def test_any_store_does(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    with connect(url) as client:
        job = client.task("add", queue="sums").enqueue(1, 2)
        assert job.get().queue == "sums"
        assert repr(client) == f"<Connection {url}>"


def test_it_is_exported() -> None:
    assert windlass.Connection is Connection
    assert callable(windlass.connect)


PROGRAM = """
import asyncio, os, sys
from windlass import connect

client = connect(sys.argv[1])
first = client.task("add").enqueue(1)
if os.fork() == 0:
    print(client.task("add").enqueue(2).get().task, flush=True)
    sys.exit()
os.wait()
print(first.get().task, flush=True)

async def main():
    await client.task("add").aenqueue(3)

asyncio.run(main())
"""


async def test_a_program_that_closes_nothing_ends_in_silence() -> None:
    """Nor does a child that it forks disturb its parent."""
    async with shop() as api:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROGRAM, api.url),
            env=os.environ | {"PYTHONPATH": SOURCE},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await asyncio.wait_for(process.communicate(), 60)
        assert (output.decode(), process.returncode) == ("add\nadd\n", 0)
        assert await api.number() == 3
