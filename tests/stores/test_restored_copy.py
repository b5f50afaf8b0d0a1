"""A store that was set back to an old copy gives no fence that was given since."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

from tests.servers.mysql_client import query
from tests.servers.server import Server
from tests.stores.mysql.site import fresh
from tests.stores.site import opened
from windlass.core.model import Lease, Transition
from windlass.core.states import State
from windlass.stores.sql.store import SqlStore
from windlass.testing.jobs import LEASE, claim_one, put


async def test_a_file_that_was_restored(tmp_path: Path) -> None:
    file, copy = tmp_path / "jobs.db", tmp_path / "copy.db"

    async def take() -> None:
        with closing(sqlite3.connect(file)) as given, closing(sqlite3.connect(copy)) as kept:
            given.backup(kept)

    async def restore() -> None:
        for path in tmp_path.glob("jobs.db*"):
            path.unlink()
        copy.rename(file)

    await _no_fence_repeats(f"sqlite:///{file}", take, restore)


async def test_tables_that_were_restored(mariadb_server: Server) -> None:
    url = fresh(mariadb_server.url)
    space = url.rpartition("=")[2]

    def tables() -> list[str]:
        asked = (
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'windlass' "
            f"AND table_name LIKE '{space}\\_%'"
        )
        return [name for (name,) in query(mariadb_server.url, asked)]

    def columns(table: str) -> str:
        asked = (
            "SELECT GROUP_CONCAT('`', column_name, '`') FROM information_schema.columns "
            f"WHERE table_schema = 'windlass' AND table_name = '{table}' "
            "AND generation_expression IS NULL"
        )
        [(names,)] = query(mariadb_server.url, asked)
        return str(names)

    def copied(table: str) -> list[str]:
        """As a dump does it: what is counted up begins where the rows end."""
        names = columns(table)
        return [
            f"CREATE TABLE windlass.copy_{table} LIKE windlass.{table}",
            f"INSERT INTO windlass.copy_{table} ({names}) SELECT {names} FROM windlass.{table}",
        ]

    async def take() -> None:
        query(
            mariadb_server.url, *(each for table in tables() for each in copied(table)), "SELECT 1"
        )

    async def restore() -> None:
        swapped = [
            statement
            for table in tables()
            for statement in (
                f"DROP TABLE windlass.{table}",
                f"RENAME TABLE windlass.copy_{table} TO windlass.{table}",
            )
        ]
        query(mariadb_server.url, *swapped, "SELECT 1")

    await _no_fence_repeats(url, take, restore)


async def _no_fence_repeats(
    url: str, take: Callable[[], Awaitable[None]], restore: Callable[[], Awaitable[None]]
) -> None:
    given: set[int] = set()
    async with opened(url, SqlStore) as store:  # type: ignore[type-abstract]
        await put(store, "a", "b")
        first = await claim_one(store)
        await store.finish([Transition(first.id, first.fence, State.PENDING, refund=True)])
    await take()
    async with opened(url, SqlStore) as store:  # type: ignore[type-abstract]
        for _ in range(20):
            job = await claim_one(store)
            given.add(job.fence)
            await store.finish([Transition(job.id, job.fence, State.PENDING, refund=True)])
        lost = await claim_one(store)
    await restore()
    async with opened(url, SqlStore) as store:  # type: ignore[type-abstract]
        job = await claim_one(store)
        assert job.id == lost.id
        assert job.fence > lost.fence > max(given) > first.fence
        assert await store.renew([Lease(lost.id, lost.fence)], LEASE) == frozenset()
        end = Transition(lost.id, lost.fence, State.COMPLETED, ref=lost.ref)
        assert await store.finish([end]) == frozenset()
