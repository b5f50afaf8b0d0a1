"""Counts are rows that are added up later: nobody waits for them, and they stay few."""

import asyncio

import asyncmy
import pytest

from tests.servers.mysql_client import query
from tests.servers.server import Server
from tests.stores.mysql.site import emptied, fresh, named, opened
from windlass.core.model import Transition
from windlass.core.states import State
from windlass.stores.mysql.fold import OFTEN
from windlass.testing.jobs import claim, counts, new_job, put


@pytest.fixture
def url(mariadb_server: Server) -> str:
    return emptied(mariadb_server.url)


@pytest.fixture
def unused(mariadb_server: Server) -> str:
    """Tables without rows that were deleted, which the server may still lock."""
    return fresh(mariadb_server.url)


def rows(url: str, table: str) -> int:
    [(number,)] = query(url, f"SELECT COUNT(*) FROM {named(url, table)}")
    return int(number)


async def test_they_stay_few_where_there_are_only_producers(url: str) -> None:
    async with opened(url) as store:
        for n in range(2 * OFTEN + 10):
            await store.insert([new_job(f"job-{n}", fresh=True)])
        assert rows(url, "deltas") <= OFTEN
        assert await counts(store) == {State.PENDING: 2 * OFTEN + 10}


async def test_they_stay_few_where_workers_only_claim_and_release(url: str) -> None:
    async with opened(url) as store:
        await put(store, "a", "b")
        for _ in range(OFTEN):
            jobs = await claim(store)
            await store.finish(
                [Transition(job.id, job.fence, State.PENDING, refund=True) for job in jobs]
            )
        assert rows(url, "deltas") <= 4 * OFTEN
        assert rows(url, "fences") <= OFTEN
        await store.prune(1)
        assert rows(url, "deltas") == 0
        assert await counts(store) == {State.PENDING: 2}


async def test_an_open_transaction_with_a_job_in_it_blocks_nobody(unused: str) -> None:
    """As that of a user who enqueues and then takes his time."""
    async with opened(unused) as store:
        await put(store, "before")
        connection = await asyncmy.connect(
            host="127.0.0.1", port=int(unused.split(":")[2].split("/")[0]), user="windlass"
        )
        async with connection.cursor() as cursor:
            await cursor.execute("START TRANSACTION")
            deltas, jobs = named(unused, "deltas"), named(unused, "jobs")
            await cursor.execute(
                f"INSERT INTO {deltas} (queue, state, number) VALUES ('default', 'pending', 1)"
            )
            await cursor.execute(
                f"INSERT INTO {jobs} (id, queue, state, `rank`, place, due, keep, created_at, spec)"
                " VALUES ('uncommitted', 'default', 'pending', 50, 1, 0, 0, 0, '')"
            )
            async with asyncio.timeout(8):
                await put(store, *(f"job-{n}" for n in range(20)))
                assert len(await claim(store, 100)) == 21
                await store.prune(100)
            assert await counts(store) == {State.ACTIVE: 21}
            await cursor.execute("COMMIT")
        await connection.ensure_closed()
        assert await counts(store) == {State.ACTIVE: 21, State.PENDING: 1}
        assert [job.id for job in await claim(store)] == ["uncommitted"]


async def test_no_step_waits_for_a_job_that_is_not_committed(unused: str) -> None:
    """Small tables are scanned rather than looked up, if a server is let: rows of others too."""
    async with opened(unused) as store:
        connection = await asyncmy.connect(
            host="127.0.0.1", port=int(unused.split(":")[2].split("/")[0]), user="windlass"
        )
        async with connection.cursor() as cursor:
            await cursor.execute("START TRANSACTION")
            await cursor.execute(
                f"INSERT INTO {named(unused, 'jobs')}"
                " (id, queue, state, `rank`, place, due, keep, created_at, spec)"
                " VALUES ('uncommitted', 'default', 'pending', 50, 1, 0, 0, 0, '')"
            )
            await cursor.execute(
                f"INSERT INTO {named(unused, 'finished')} (state, finished_at, number, id, queue,"
                " `rank`, place, due, attempt, fence, keep, created_at, spec, expires_at)"
                " VALUES ('dead', 1, 99, 'finished', 'default', 50, 1, 0, 1, 1, 0, 0, '', 5)"
            )
            async with asyncio.timeout(8):
                await put(store, "a", "b", "c")
                await store.insert([new_job("a"), new_job("d", unique="k")])
                await store.insert([new_job("e", unique="k")])
                jobs = await claim(store, 3)
                await store.renew([job.lease for job in jobs], 1000)
                states = (State.COMPLETED, State.RETRY, State.DEAD)
                moves = zip(jobs, states, strict=True)
                await store.finish(
                    [Transition(job.id, job.fence, state, ref=job.ref) for job, state in moves]
                )
                await claim(store, 1)
                await store.rescue(9, 1000, "w")
                await store.reschedule(["d"], 1000)
                assert await store.cancel(["d"]) == {"d"}
                assert await store.delete(["a", "c", "d"]) == {"a", "c", "d"}
                await store.prune(100)
            await cursor.execute("ROLLBACK")
        await connection.ensure_closed()
