"""Redis as the source, and a history database that crashes: all that ended is there, once."""

import asyncio

import pytest

from tests.history.engines import fresh_url
from tests.servers.server import Server
from windlass import Windlass
from windlass.config import HistorySettings, WorkerSettings
from windlass.core.ids import new_id
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.testing.work import until

ROUND = 100


async def listed(app: Windlass) -> dict[str, State]:
    """Every job of history with its state."""
    found: dict[str, State] = {}
    cursor = None
    while True:
        page = await app.history.afind(limit=1_000, cursor=cursor)
        assert not found.keys() & {job.id for job in page.jobs}
        found |= {job.id: job.state for job in page.jobs}
        cursor = page.cursor
        if cursor is None:
            return found


async def emptied(store: Store) -> None:
    async with asyncio.timeout(60):
        while await store.read_journal(1):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("engine", ["postgres", "mariadb"])
async def test_a_database_that_crashes_and_comes_back_misses_nothing(
    engine: str,
    request: pytest.FixtureRequest,
    redis_server: Server,
    caplog: pytest.LogCaptureFixture,
) -> None:
    database: Server = request.getfixturevalue(f"{engine}_server")
    url = fresh_url(engine, request, database.folder)
    url += "&patience=1" if "?" in url else "?patience=1"
    app = Windlass(
        f"{redis_server.url}?namespace={new_id()}",
        history=HistorySettings(url=url, interval=0.01),
    )

    @app.task(max_retries=1, backoff=0)
    async def note(number: int) -> None:
        if number % 10 == 0:
            raise ValueError("every tenth fails")

    done: set[str] = set()

    async def run_round() -> None:
        jobs = await app.aenqueue_many([note.using(keep=0).call(n) for n in range(ROUND)])
        done.update(job.id for job in jobs)
        while True:
            queues = await store.queues()
            if not any(set(queue.counts) - {State.DEAD} for queue in queues):
                return
            await asyncio.sleep(0.01)

    worker = await app.worker(WorkerSettings())
    store = await app.client.store()
    await worker.start()
    try:
        await run_round()
        await emptied(store)
        database.kill()
        async with asyncio.timeout(60):
            await run_round()
        await until(lambda: "history cannot be written" in caplog.text)
        assert len(await store.read_journal(1_000)) >= ROUND
        database.start()
        await run_round()
        await emptied(store)
        states = await listed(app)
        assert states.keys() == done
        assert sum(state is State.DEAD for state in states.values()) == 3 * ROUND // 10
        some = next(id for id, state in states.items() if state is State.DEAD)
        assert [each.state for each in await app.history.aattempts(some)] == [
            State.RETRY,
            State.DEAD,
        ]
    finally:
        if not database.is_running:
            database.start()
        await worker.stop()
        await app.aclose()
