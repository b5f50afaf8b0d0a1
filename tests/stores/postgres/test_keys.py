"""Unique keys while others have transactions open: one job gets a key, whoever comes first."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.servers.server import Server
from tests.stores.postgres.site import ask, emptied, opened, schema_of
from windlass.core.model import NewJob, Receipt, Spec
from windlass.core.unique import UNTIL_STARTED
from windlass.stores.postgres.store import PostgresStore
from windlass.testing.jobs import claim_one, job_of, new_job

PLAIN = Spec("work", b"")
WINDOW = Spec("work", b"", unique_for=60_000)
HELD = Receipt("held", duplicate=True)


@pytest.fixture
def url(postgres_server: Server) -> str:
    return emptied(postgres_server.url)


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    async with opened(url) as store:
        yield store


def wanting(id: str, spec: Spec = PLAIN, **options: Any) -> NewJob:
    return new_job(id, spec, unique="k", **options)


@asynccontextmanager
async def meanwhile(store: PostgresStore, job: NewJob) -> AsyncIterator[Callable[[], Any]]:
    """A job in a transaction that is open; the insert of `rival` waits for it."""
    connection = await store._base.connect()
    await connection.raw.execute("BEGIN")
    now = await store.now()
    await connection.each(store.inserting([job])(now))

    async def end() -> None:
        await connection.raw.execute("COMMIT")

    try:
        yield end
    finally:
        await connection.raw.close()


@pytest.mark.parametrize("first", [WINDOW, PLAIN], ids=["window", "live"])
@pytest.mark.parametrize("second", [WINDOW, PLAIN], ids=["window", "live"])
@pytest.mark.parametrize("is_fresh", [True, False])
async def test_a_key_that_is_taken_meanwhile_is_taken(
    store: PostgresStore, first: Spec, second: Spec, is_fresh: bool
) -> None:
    async with meanwhile(store, wanting("held", first)) as commit:
        rival = asyncio.create_task(store.insert([wanting("rival", second, fresh=is_fresh)]))
        await asyncio.sleep(0.2)
        assert not rival.done()
        await commit()
        assert await rival == [HELD]
    assert set(await store.get(["held", "rival"])) == {"held"}


@pytest.mark.parametrize("first", [WINDOW, PLAIN], ids=["window", "live"])
async def test_who_replaces_replaces_whoever_came_meanwhile(
    store: PostgresStore, first: Spec
) -> None:
    async with meanwhile(store, wanting("held", first)) as commit:
        spec = Spec("work", b"replaced")
        rival = asyncio.create_task(store.insert([wanting("rival", spec, conflict="replace")]))
        await asyncio.sleep(0.2)
        await commit()
        assert await rival == [HELD]
    assert (await job_of(store, "held")).spec == spec


async def test_of_many_at_once_one_gets_the_key(store: PostgresStore) -> None:
    jobs = [wanting(f"{n}", WINDOW if n % 2 else PLAIN, fresh=bool(n % 3)) for n in range(20)]
    receipts = await asyncio.gather(*[store.insert([job]) for job in jobs])
    assert sum(not receipt.duplicate for [receipt] in receipts) == 1
    assert len({receipt.id for [receipt] in receipts}) == 1


async def test_a_key_goes_in_the_statement_that_claims(store: PostgresStore) -> None:
    await store.insert([wanting("a", Spec("work", b"", unique_for=UNTIL_STARTED), fresh=True)])
    assert (await claim_one(store)).unique is None
    assert (await job_of(store, "a")).unique is None
    assert await store.insert([wanting("b", fresh=True)]) == [Receipt("b")]


async def test_windows_that_are_over_are_swept(store: PostgresStore, url: str) -> None:
    await store.insert([wanting("a", Spec("work", b"", unique_for=1))])
    await asyncio.sleep(0.01)
    await store.prune(10)
    table = f"{schema_of(url)}.windlass_jobs"
    assert await ask(url, f"SELECT count(*) FROM {table} WHERE state = 'window'") == 0
