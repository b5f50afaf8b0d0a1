"""Unique keys that are held for a window, with others at the same moment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.servers.mysql_client import query
from tests.servers.server import Server
from tests.stores.mysql.site import emptied, fresh, named, opened
from tests.stores.mysql.user import begun
from windlass.core.model import NewJob, Receipt, Spec
from windlass.core.states import State
from windlass.stores.guest.mysql import AsyncmyGuest
from windlass.stores.mysql.loans import SESSION
from windlass.stores.mysql.store import MysqlStore
from windlass.testing.jobs import bring, counts, new_job, put, state_of

WINDOW = Spec("work", b"", unique_for=60_000)
PAUSE = 0.2


@pytest.fixture
def url(mariadb_server: Server) -> str:
    return emptied(mariadb_server.url)


def rival(id: str, spec: Spec = WINDOW, **options: Any) -> NewJob:
    return new_job(id, spec, unique="k", **options)


@asynccontextmanager
async def inserted(store: MysqlStore, url: str, job: NewJob) -> AsyncIterator[Any]:
    """A transaction of a user's that has a job in it."""
    async with begun(url, init_command=SESSION) as connection:
        guest = AsyncmyGuest(connection)
        assert await guest.perform(store.dialect, store.inserting([job])) == [Receipt(job.id)]
        yield connection


@pytest.mark.parametrize("first", [WINDOW, Spec("work", b"")])
@pytest.mark.parametrize("second", [WINDOW, Spec("work", b"")])
@pytest.mark.parametrize("conflict", ["reject", "replace", "last"])
async def test_who_wants_a_key_that_is_being_taken_waits_for_it(
    url: str, first: Spec, second: Spec, conflict: str
) -> None:
    async with opened(url) as store:
        async with inserted(store, url, rival("a", first)) as connection:
            late = asyncio.create_task(
                store.insert([rival("b", second, conflict=conflict), new_job("c")])
            )
            await asyncio.sleep(PAUSE)
            assert not late.done()
            await connection.commit()
            assert await late == [Receipt("a", duplicate=True), Receipt("c")]
        assert await state_of(store, "b") is None
        assert await counts(store) == {State.PENDING: 2}


async def test_who_waits_gets_the_key_if_it_was_not_taken(url: str) -> None:
    async with opened(url) as store:
        async with inserted(store, url, rival("a")) as connection:
            late = asyncio.create_task(store.insert([rival("b")]))
            await asyncio.sleep(PAUSE)
            await connection.rollback()
            assert await late == [Receipt("b")]
        assert await store.insert([rival("c")]) == [Receipt("b", duplicate=True)]


async def test_a_replay_waits_for_who_takes_its_key_and_is_refused(url: str) -> None:
    async with opened(url) as store:
        await bring(store, "dead", State.DEAD, unique="k")
        async with inserted(store, url, rival("a")) as connection:
            late = asyncio.create_task(store.replay(["dead"]))
            await asyncio.sleep(PAUSE)
            assert not late.done()
            await connection.commit()
            assert await late == frozenset()
        assert await state_of(store, "dead") is State.DEAD


async def test_of_many_at_once_one_gets_the_key(url: str) -> None:
    async with opened(url) as one, opened(url) as two:
        for turn in range(10):
            specs = (WINDOW, Spec("work", b""))
            jobs = [rival(f"{turn}-{n}", specs[n % 2]) for n in range(8)]
            receipts = await asyncio.gather(
                *(store.insert([job]) for job in jobs for store in (one, two))
            )
            [stored] = {each.id for [each] in receipts}
            assert await counts(one) == {State.PENDING: 1}
            assert await one.delete([stored]) == {stored}


async def test_a_window_that_is_being_taken_holds_up_nobody_else(mariadb_server: Server) -> None:
    # Rows that were deleted may still be locked: a new table has none.
    url = fresh(mariadb_server.url)
    async with opened(url) as store:
        await put(store, "over", spec=Spec("work", b"", unique_for=1), unique="o")
        await put(store, "b", spec=WINDOW, unique="b")
        async with inserted(store, url, rival("a")):
            await asyncio.sleep(0.01)
            async with asyncio.timeout(5):
                assert await store.cancel(["b"]) == {"b"}
                await store.prune(10)
            assert query(url, f"SELECT COUNT(*) FROM {named(url, 'windows')}") == [(0,)]
