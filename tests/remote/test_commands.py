"""The command line, an app and a worker with the URL of a server for their store."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Program, read_until
from tests.server.serving import Served, served
from tests.servers.certificates import certify
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.states import State


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@asynccontextmanager
async def bare(**settings: Any) -> AsyncIterator[Served]:
    app = Windlass("memory://")
    async with served(app, has_tasks=False, **settings) as api:
        yield api
    await app.aclose()


@pytest.fixture
async def secure(tmp_path: Path) -> AsyncIterator[tuple[Served, str]]:
    """A server with TLS, and the part of its URL that names the authority."""
    made = certify(tmp_path)
    files = {"tls_cert": str(made.certificate("server")), "tls_key": str(made.key("server"))}
    async with bare(tls=False, **files) as api:
        yield api, f"?ca={made.authority}"


async def test_jobs_can_be_listed_and_changed_from_afar(
    program: Program, secure: tuple[Served, str]
) -> None:
    api, trust = secure

    def work(url: str) -> None:
        made = program("enqueue", "resize", "cat.jpg", "--url", url, "--queue", "images")
        assert made.returncode == 0, made.stderr
        id = made.stdout.strip()
        listed = program("jobs", "--url", url)
        assert listed.returncode == 0 and id[:8] in listed.stdout and "images" in listed.stdout
        assert program("cancel", id, "--url", url).returncode == 0
        again = program("cancel", id, "--url", url)
        assert again.returncode != 0 and "it is cancelled" in again.stderr

    await asyncio.to_thread(work, api.url + trust)
    assert await api.number(State.CANCELLED) == 1


async def test_a_wrong_key_and_a_server_that_is_away_are_told_in_a_sentence(
    program: Program,
) -> None:
    def work(url: str) -> str:
        refused = program("jobs", "--url", url, environ={"WINDLASS_API_KEY": "wl_wrong"})
        assert refused.returncode != 0
        return refused.stderr

    async with bare() as api:
        await api.add_key("read")
        said = await asyncio.to_thread(work, api.url)
        assert said == "windlass: The API key is wrong, revoked or expired.\n"
        url = f"{api.url}?patience=0"
    said = await asyncio.to_thread(work, url)
    assert said.startswith("windlass: The server at 127.0.0.1") and said.count("\n") == 1


async def test_an_app_and_its_worker_can_do_without_a_database(
    program: Program, secure: tuple[Served, str]
) -> None:
    api, trust = secure
    key = await api.add_key("work", "enqueue", "operate")
    url = api.url.replace("://", f"://:{key}@") + trust
    app = Windlass(url)
    add = app.task(name="add", queue="sums")(lambda a, b: a + b)
    job = await add.aenqueue(40, 2)
    with program.started("worker", "shop:app", "--queues", "sums", "--url", url) as worker:
        said = await asyncio.to_thread(read_until, worker, "started on")
        assert ":***@" in said and key not in said
        assert await job.aresult(30) == 42
        worker.send_signal(signal.SIGTERM)
        await asyncio.to_thread(read_until, worker, "stopped")
        assert await asyncio.to_thread(worker.wait, 60) == 0
    await app.aclose()
    assert not await api.store.workers()


async def test_a_worker_with_a_key_for_one_queue_leaves_the_rest_to_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with bare() as api:
        key = await api.add_key("work", "enqueue", "operate", queues=("sums",))
        app = Windlass(api.url.replace("://", f"://:{key}@"))

        @app.task(queue="sums")
        async def add(a: int, b: int) -> int:
            return a + b

        @app.cron("0 0 1 1 *", queue="sums")
        async def celebrate() -> None: ...

        worker = await app.worker(WorkerSettings(queues=("sums",)))
        await worker.start()
        job = await add.aenqueue(1, 2)
        assert await job.aresult(30) == 3
        await worker.stop()
        await app.aclose()
        assert [each.name for each in await api.store.schedules()] == ["celebrate"]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
