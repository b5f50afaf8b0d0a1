"""What is kept of attempts whose worker lost them: by a crash, by a stall, by a cancellation."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.cli.program import PATIENCE, Program
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.attempts import AttemptRecord
from windlass.core.lines import line
from windlass.core.model import Job
from windlass.core.states import State
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.testing.clock import FakeClock
from windlass.testing.work import until
from windlass.worker import heartbeat
from windlass.worker.worker import Worker

log = logging.getLogger("shop")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def app(clock: FakeClock) -> AsyncIterator[Windlass]:
    app = Windlass("memory://", clock=clock)
    log.setLevel(logging.INFO)
    yield app
    log.setLevel(logging.NOTSET)
    await app.aclose()


async def attempts(app: Windlass, id: str) -> Sequence[AttemptRecord]:
    store = await app.client.store()
    return (await store.attempts([id])).get(id, ())


async def claimed(app: Windlass) -> Job:
    """A job that some worker has and will not be heard of."""

    @app.task(name="any", max_retries=1, backoff=0)
    async def anything() -> None: ...

    await anything.aenqueue()
    store = await app.client.store()
    (job,) = await store.claim({"default": 1}, 1, 1_000, "gone")
    return job


async def rescue(app: Windlass) -> None:
    store = await app.client.store()
    assert await Rescuer(store, app.registry, Leader(store, "me"), 5.0, "me").rescue() == 1


async def test_one_that_died_without_a_word_is_kept_with_its_error(
    app: Windlass, clock: FakeClock
) -> None:
    job = await claimed(app)
    clock.advance(2)
    await rescue(app)
    (record,) = await attempts(app, job.id)
    assert (record.attempt, record.state, record.worker) == (1, State.RETRY, "")
    assert record.error is not None and record.error.kind == "LeaseExpired"
    assert record.started_at == job.started_at and record.ended_at is not None


async def test_what_it_had_said_stays(app: Windlass, clock: FakeClock) -> None:
    job = await claimed(app)
    store = await app.client.store()
    before = AttemptRecord(job.id, job.queue, job.fence, 1, "gone", job.started_at or 0)
    lines = (line(1, "info", "shop", "begun"),)
    await store.note_attempts([replace(before, lines=lines)], 1_000_000)
    clock.advance(2)
    await rescue(app)
    (record,) = await attempts(app, job.id)
    assert (record.worker, record.lines, record.state) == ("gone", lines, State.RETRY)
    assert record.error is not None and record.error.kind == "LeaseExpired"


async def stuck(app: Windlass, monkeypatch: pytest.MonkeyPatch) -> tuple[Worker, str]:
    """A worker with an attempt that has said something and does not end by itself."""
    monkeypatch.setattr(heartbeat, "LONGEST_PAUSE", 0.05)
    said = asyncio.Event()

    @app.task(max_retries=1)
    async def wait() -> None:
        log.info("begun")
        said.set()
        await asyncio.Event().wait()

    job = await wait.aenqueue()
    # It may get the job once more, and would wait for that as well when it is to stop.
    worker = await app.worker(WorkerSettings(shutdown_timeout=0.1))
    await worker.start()
    await asyncio.wait_for(said.wait(), 20)
    return worker, job.id


async def test_a_worker_that_was_taken_for_dead_adds_its_lines_to_what_the_rescuer_said(
    app: Windlass, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, id = await stuck(app, monkeypatch)
    clock.advance(60)
    await rescue(app)
    await until(lambda: worker.ran == 1)
    await worker.stop()
    said = [each for each in await attempts(app, id) if each.lines]
    assert [each.text for each in said[0].lines] == ["begun"]
    assert said[0].ended_at is not None
    errors = [each.error.kind for each in await attempts(app, id) if each.error is not None]
    assert errors == ["LeaseExpired"]


async def test_a_cancelled_attempt_keeps_its_lines(
    app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, id = await stuck(app, monkeypatch)
    await app.job(id).acancel()
    await until(lambda: worker.ran == 1)
    await worker.stop()
    (record,) = await attempts(app, id)
    assert [each.text for each in record.lines] == ["begun"]
    assert (record.state, record.error) == (None, None)
    assert record.ended_at is not None


async def test_lines_outlive_a_worker_that_is_killed(tmp_path: Path) -> None:
    program = Program(tmp_path)
    (tmp_path / "slow.py").write_text(
        "import logging, time\n"
        "from windlass import Windlass\n"
        "app = Windlass()\n"
        "@app.task\n"
        "def crawl() -> None:\n"
        "    logging.getLogger('slow').info('begun')\n"
        "    while True:\n"
        "        time.sleep(0.01)\n",
        "utf-8",
    )
    app = Windlass(program.url)
    job = await app.task(name="crawl", max_retries=0)(lambda: None).aenqueue()
    with program.started("worker", "slow:app", "--lease", "1") as worker:
        async with asyncio.timeout(PATIENCE):
            while not await attempts(app, job.id):
                await asyncio.sleep(0.02)
        worker.kill()
    store = await app.client.store()
    rescuer = Rescuer(store, app.registry, Leader(store, "me"), 5.0, "me")
    async with asyncio.timeout(PATIENCE):
        while not await rescuer.rescue():
            await asyncio.sleep(0.02)
    (record,) = await attempts(app, job.id)
    await app.aclose()
    assert [each.text for each in record.lines] == ["begun"]
    assert record.error is not None and record.error.kind == "LeaseExpired"
    assert record.state is State.DEAD and record.worker
