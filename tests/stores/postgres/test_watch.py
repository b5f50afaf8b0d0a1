"""Who waits is woken: by the server, or where that is not possible by a look now and then."""

import asyncio
import time

import pytest

from tests.servers.server import Server
from tests.stores.postgres.site import emptied, opened, sleeping
from windlass.core.model import NEVER
from windlass.core.states import State
from windlass.testing.jobs import claim_one, finish, new_job, put
from windlass.testing.work import until

SOON = 5.0
LONG = 60.0


async def woken(waiting: asyncio.Task[None]) -> bool:
    began = time.monotonic()
    await asyncio.wait_for(waiting, LONG)
    return time.monotonic() - began < SOON


async def test_an_insert_wakes(postgres_server: Server) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        waiting = await sleeping(store)
        await another.insert([new_job("a", fresh=True)])
        assert await woken(waiting)


async def test_a_signal_wakes(postgres_server: Server) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        await put(store, "a")
        assert await finish(store, await claim_one(store), State.SCHEDULED, awaits="go", due=NEVER)
        waiting = await sleeping(store)
        assert await another.signal("a", "go", b"")
        assert await woken(waiting)


async def test_a_scheduled_job_shortens_a_wait(postgres_server: Server) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        await put(another, "far-off", delay=3_600_000)
        waiting = await sleeping(store)
        await put(another, "soon", delay=500)
        assert await woken(waiting)


async def test_a_job_of_another_queue_does_not_wake(postgres_server: Server) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        waiting = await sleeping(store)
        await put(another, "a", queue="other")
        await asyncio.sleep(0.3)
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_a_backlog_wakes_nobody_again(postgres_server: Server) -> None:
    """The first pending job is old: whoever could take it is not asleep."""
    now = [10_000]
    url = emptied(postgres_server.url)
    async with opened(url, lambda: now[0]) as store:
        heard: list[str] = []
        connection = await store._base.connect_raw()
        schema = store._base.settings.schema
        await connection.add_listener(
            f"windlass.{schema}", lambda _c, _p, _n, queue: heard.append(str(queue))
        )
        await put(store, "first")
        await put(store, "second", queue="other")
        await until(lambda: heard == ["default", "other"])
        now[0] += 1_000
        await put(store, "third")
        await put(store, "fourth", queue="new")
        await until(lambda: len(heard) == 3)
        assert heard == ["default", "other", "new"]
        await connection.close()


async def test_waits_end_where_nobody_can_listen(postgres_server: Server) -> None:
    url = emptied(postgres_server.url, listen="off")
    async with opened(url) as store, opened(url) as another:
        waiting = asyncio.create_task(store.wait(["default"], LONG))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        assert not store._watch._listener.listens
        await put(another, "a")
        assert await woken(waiting)


async def test_behind_a_pooler_nobody_listens_unless_told(pgbouncer_server: Server) -> None:
    url = emptied(pgbouncer_server.url)
    async with opened(url) as store, opened(url) as another:
        assert store._base.pooled
        waiting = asyncio.create_task(store.wait(["default"], LONG))
        await asyncio.sleep(0.1)
        assert not store._watch._listener.listens
        await another.insert([new_job("a", fresh=True)])
        assert await woken(waiting)


async def test_a_direct_connection_is_not_taken_for_a_pooler(postgres_server: Server) -> None:
    async with opened(emptied(postgres_server.url)) as store:
        assert not store._base.pooled


@pytest.mark.parametrize("setting", ["on", "off"])
async def test_a_pooler_can_be_told_of(postgres_server: Server, setting: str) -> None:
    async with opened(emptied(postgres_server.url, pooler=setting)) as store:
        assert store._base.pooled is (setting == "on")
        await put(store, "a")
