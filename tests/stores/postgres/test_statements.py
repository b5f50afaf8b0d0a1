"""What a batch of jobs costs: three statements for its whole life, and none that grows."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.servers.server import Server
from tests.stores.postgres.site import ask, emptied, opened, schema_of
from windlass.core.model import Transition
from windlass.core.states import State
from windlass.stores.postgres.folding import BATCH, OFTEN
from windlass.stores.postgres.store import PostgresStore
from windlass.testing.jobs import LEASE, counts, new_job, put
from windlass.testing.work import until

JOBS = 100


@pytest.fixture
def url(postgres_server: Server) -> str:
    return emptied(postgres_server.url, pool="1")


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    async with opened(url) as store:
        yield store


def batch(start: int) -> list[Any]:
    return [new_job(f"job-{n:05}", fresh=True) for n in range(start, start + JOBS)]


async def live(store: PostgresStore, start: int) -> None:
    """The whole life of a batch."""
    await store.insert(batch(start))
    jobs = await store.claim({"default": JOBS}, JOBS, LEASE, "w")
    moves = [Transition(job.id, job.fence, State.COMPLETED, result=b"r") for job in jobs]
    assert len(await store.finish(moves)) == JOBS


async def test_the_whole_life_of_a_batch_is_three_statements(store: PostgresStore) -> None:
    await live(store, 0)
    sent: list[str] = []
    async with store._base._pool.connection() as connection:  # type: ignore[union-attr]
        connection.raw.add_query_logger(lambda record: sent.append(record.query))
    await live(store, JOBS)
    await store.ping()
    # The driver tells of each a moment later. Workers are told of the jobs beside all that.
    last, notice = store._base.queries["clock"], store._base._compiled["tell"].text
    await until(lambda: last in sent)
    assert [query for query in sent if query != notice][3:] == [last]
    assert sent.count(notice) <= 1
    assert await counts(store) == {State.COMPLETED: 2 * JOBS}


async def test_the_server_sees_no_transaction_but_those_three(
    store: PostgresStore, url: str
) -> None:
    """Each statement is a transaction of its own: no BEGIN, no COMMIT, no reset."""
    xids = "SELECT pg_current_xact_id()::text::bigint"
    await live(store, 0)
    before = await ask(url, xids)
    await live(store, JOBS)
    assert await ask(url, xids) - before <= 3 + 1 + 1  # its own, and some upkeep of the server's


async def test_deltas_are_folded_while_only_producers_run(store: PostgresStore, url: str) -> None:
    for n in range(3 * OFTEN):
        await store.insert([new_job(f"job-{n}", fresh=True)])
    folding = store._folding
    await until(lambda: folding._task is not None and folding._task.done())
    left = await ask(url, f"SELECT count(*) FROM {schema_of(url)}.windlass_deltas")
    assert left <= OFTEN
    assert await counts(store) == {State.PENDING: 3 * OFTEN}


async def test_a_fold_takes_all_there_are(store: PostgresStore, url: str) -> None:
    table = f"{schema_of(url)}.windlass_deltas"
    await ask(
        url,
        f"INSERT INTO {table} SELECT 'q', 'pending', 1 FROM generate_series(1, {2 * BATCH + 1})",
    )
    await store.prune(1)
    assert await ask(url, f"SELECT count(*) FROM {table}") == 0
    assert (await store.queues())[0].counts == {State.PENDING: 2 * BATCH + 1}


async def test_queues_that_are_no_more_leave_no_counts_behind(
    store: PostgresStore, url: str
) -> None:
    await put(store, "a", queue="brief")
    assert await store.delete(["a"]) == {"a"}
    await store.prune(1)
    table = f"{schema_of(url)}.windlass_counts"
    assert await ask(url, f"SELECT count(*) FROM {table} WHERE queue <> ''") == 0


async def test_a_users_open_transaction_is_in_nobodys_way(store: PostgresStore, url: str) -> None:
    """As with an enqueue inside of it that is not committed yet."""
    async with opened(url) as user:
        connection = await user._base.connect()
        await connection.raw.execute("BEGIN")
        await connection.each(user.inserting([new_job("held")])(0))
        await live(store, 0)
        await store.prune(1)
        await connection.raw.execute("ROLLBACK")
        await connection.raw.close()
        assert await counts(store) == {State.COMPLETED: JOBS}


async def test_due_jobs_make_a_claim_take_the_long_way_once(store: PostgresStore) -> None:
    await put(store, "late", due=1)
    await put(store, "later", delay=1)
    while not (jobs := await store.claim({"default": 9}, 9, LEASE, "w")):
        pass
    claimed = [job.id for job in jobs]
    while len(claimed) < 2:
        claimed += [job.id for job in await store.claim({"default": 9}, 9, LEASE, "w")]
    assert claimed == ["late", "later"]
