"""Stores and workers with tables of their own, and what may happen to their server."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import count

from asyncmy import errors

from tests.servers.mysql_client import query
from tests.stores.redis.outage import LEASE, Site, end, running_services
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.clock import Clock
from windlass.stores.mysql.store import MysqlStore
from windlass.stores.open import open_store

_serial = count()


def fresh(url: str, **settings: str) -> str:
    """The URL of tables that nobody has used."""
    given = {"namespace": f"test_{next(_serial)}", **settings}
    return f"{url}?{'&'.join(f'{name}={value}' for name, value in given.items())}"


def named(url: str, table: str) -> str:
    """The full name of a table of the store at a URL that `fresh` gave."""
    front, _, settings = url.partition("?namespace=")
    return f"{front.rpartition('/')[2]}.{settings.partition('&')[0]}_{table}"


@asynccontextmanager
async def opened(url: str, clock: Clock | None = None) -> AsyncIterator[MysqlStore]:
    store = open_store(url, clock=clock)
    assert isinstance(store, MysqlStore)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def working(url: str, direct: str) -> AsyncIterator[Site]:
    """A worker on `url` and a producer on `direct`; no part of the worker may end meanwhile."""
    app, producer = Windlass(url), Windlass(direct)
    site = Site(app, producer, ("default",))
    worker = await app.worker(WorkerSettings(lease=LEASE))
    await worker.start()
    services = running_services()
    assert services
    try:
        await site.begin()
        yield site
        assert running_services() == services
    finally:
        site.release()
        await end(worker, app, producer)


def kill_all(url: str) -> int:
    """End every connection but this one; how many it was."""
    others = query(
        url,
        "SELECT id FROM information_schema.processlist "
        "WHERE id <> CONNECTION_ID() AND user = 'windlass'",
    )
    for (id,) in others:
        # One that has gone by itself meanwhile cannot be ended any more.
        with suppress(errors.OperationalError):
            query(url, f"KILL {id}")
    return len(others)


def words(prefix: str, number: int) -> Iterator[str]:
    return (f"{prefix}-{n}" for n in range(number))
