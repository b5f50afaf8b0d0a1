"""Who waits is woken: by the server, or where that is not possible by a look now and then."""

import asyncio
import time

import pytest

from tests.servers.server import Server
from tests.stores.postgres.site import emptied, opened, sleeping
from windlass.core.model import NEVER
from windlass.core.states import State
from windlass.stores.postgres import watch
from windlass.stores.postgres.connection import Raw
from windlass.stores.postgres.insert import insert_fresh
from windlass.stores.postgres.store import PostgresStore
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


async def heard_of(store: PostgresStore) -> tuple[Raw, list[str]]:
    """A connection that listens, to be closed, and what it hears."""
    heard: list[str] = []
    connection = await store._base.connect_raw()
    await connection.add_listener(
        f"windlass.{store._base.settings.schema}",
        lambda _c, _p, _n, queue: heard.append(str(queue)),
    )
    return connection, heard


async def test_many_inserts_share_their_notices(postgres_server: Server) -> None:
    """Only the first one notifies by itself: who commits with a notice waits for all who do."""
    url = emptied(postgres_server.url)
    async with opened(url) as store:
        connection, heard = await heard_of(store)
        number = 0
        while number < 200 or not heard[2:]:
            await store.insert([new_job(f"job-{number}", fresh=True)])
            number += 1
        await store.insert([new_job("last", queue="other", fresh=True)])
        await until(lambda: "other" in heard)
        assert len(heard) < number / 2
        await connection.close()


async def test_what_is_due_later_than_an_idle_worker_looks_is_no_news(
    postgres_server: Server,
) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store:
        connection, heard = await heard_of(store)
        await put(store, "far-off", queue="far-off", delay=3_600_000)
        await store.insert([new_job("later", queue="far-off", delay=3_600_000, fresh=True)])
        await store.insert([new_job("now", queue="now", fresh=True)])
        await until(lambda: bool(heard))
        assert heard == ["now"]
        await connection.close()


async def test_closing_tells_what_is_still_to_be_told(postgres_server: Server) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as observer:
        connection, heard = await heard_of(observer)
        async with opened(url) as store:
            for n in range(20):
                await store.insert([new_job(f"job-{n}", fresh=True)])
            await store.insert([new_job("last", queue="other", fresh=True)])
        await until(lambda: "other" in heard)
        await connection.close()


async def test_a_users_commit_wakes_however_old_the_line_is(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statement runs while others wait in front, the commit comes when nobody does any more."""
    monkeypatch.setattr(watch, "IDLE_LOOK", LONG)
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        await put(another, "old")
        user = await another._base.connect()
        await until_old(another)
        await user.raw.execute("BEGIN")
        await user.each(another.inserting([new_job("late", fresh=True)])(0))
        await claim_one(store)
        waiting = await sleeping(store)
        await asyncio.sleep(0.2)
        await user.raw.execute("COMMIT")
        assert await woken(waiting)
        assert (await claim_one(store)).id == "late"
        await user.raw.close()


async def test_an_idle_worker_looks_by_itself(postgres_server: Server) -> None:
    """What is told beside an insert is lost if that process dies."""
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        waiting = await sleeping(store)
        await another._base.run(lambda now, again: insert_fresh([new_job("a")], now, again))
        assert await woken(waiting)


async def until_old(store: PostgresStore) -> None:
    """Wait until the first job in line has been there for more than a second."""
    [since] = (await store.oldest(["default"])).values()
    while await store.now() - since < 1_100:
        await asyncio.sleep(0.1)


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
