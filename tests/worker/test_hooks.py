"""Hooks of a worker: before its first job and after its last one, and what if they fail."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import PATIENCE, Program, read_until
from windlass import Depends, State, Windlass
from windlass.config import WorkerSettings
from windlass.errors import ConfigError, InvalidOption, StartupFailed
from windlass.testing.work import counts, work


async def test_hooks_run_around_all_jobs_in_order_and_in_reverse(app: Windlass) -> None:
    notes: list[str] = []

    @app.on_startup
    async def first() -> None:
        notes.append("first")

    @app.on_startup
    def second() -> None:
        assert threading.current_thread() is not threading.main_thread()
        notes.append("second")

    @app.on_shutdown
    async def last() -> None:
        notes.append("last")

    @app.on_shutdown
    def but_one() -> None:
        notes.append("last but one")

    @app.task
    async def job() -> None:
        notes.append("job")

    await job.aenqueue()
    await work(app)
    assert notes == ["first", "second", "job", "last but one", "last"]


async def test_a_shutdown_hook_finds_the_last_job_ended_and_written(app: Windlass) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()
    seen: list[dict[State, int]] = []

    @app.on_shutdown
    async def look() -> None:
        seen.append(dict(await counts(await app.client.store())))

    @app.task
    async def slow() -> None:
        started.set()
        await go_on.wait()

    await slow.aenqueue()
    worker = await app.worker()
    await worker.start()
    async with asyncio.timeout(20):
        await started.wait()
    stopping = asyncio.create_task(worker.stop())
    await asyncio.sleep(0)
    assert seen == []
    go_on.set()
    await stopping
    assert seen == [{State.COMPLETED: 1}]


async def test_a_hook_is_still_a_function(app: Windlass) -> None:
    @app.on_startup
    def answer() -> int:
        return 42

    assert answer() == 42


async def test_hooks_can_use_resources_for_these_are_opened_first_and_closed_last(
    app: Windlass,
) -> None:
    notes: list[str] = []

    @app.resource
    async def db() -> AsyncIterator[str]:
        notes.append("open")
        yield "db"
        notes.append("close")

    @app.on_startup
    async def warm(pool: str = Depends(db)) -> None:
        notes.append(f"warm {pool}")

    @app.on_shutdown
    def flush(*, pool: str = Depends(db)) -> None:
        notes.append(f"flush {pool}")

    await work(app)
    assert notes == ["open", "warm db", "flush db", "close"]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_failing_start_up_hook_stops_the_worker_with_the_reason(
    app: Windlass, is_async: bool
) -> None:
    notes: list[str] = []

    @app.resource
    def db() -> Iterator[str]:
        notes.append("open")
        yield "db"
        notes.append("close")

    async def warm() -> None:
        raise ConnectionError("no route to the cache")

    def warm_up() -> None:
        raise ConnectionError("no route to the cache")

    app.on_startup(warm if is_async else warm_up)

    @app.on_startup
    async def never() -> None:
        notes.append("the next one")

    @app.on_shutdown
    async def neither() -> None:
        notes.append("a shutdown hook")

    @app.task
    async def job(pool: str = Depends(db)) -> None:
        notes.append("job")

    handle = await job.aenqueue()
    worker = await app.worker()
    with pytest.raises(StartupFailed) as caught:
        await worker.start()
    assert str(caught.value) == (
        f"The worker did not start: the start-up hook {'warm' if is_async else 'warm_up'} failed: "
        "ConnectionError: no route to the cache"
    )
    assert isinstance(caught.value.__cause__, ConnectionError)
    await worker.stop()
    assert notes == ["open", "close"]
    assert (await handle.aget()).state is State.PENDING


async def test_a_failing_shutdown_hook_is_logged_and_the_others_still_run(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    notes: list[str] = []

    @app.on_shutdown
    async def last() -> None:
        notes.append("last")

    @app.on_shutdown
    async def broken() -> None:
        raise ConnectionError("nobody listens")

    @app.on_shutdown
    def cancelled() -> None:
        raise asyncio.CancelledError

    await work(app)
    assert notes == ["last"]
    assert "the shutdown hook broken failed" in caplog.text
    assert "nobody listens" in caplog.text
    assert "the shutdown hook cancelled" in caplog.text


async def test_a_shutdown_hook_that_does_not_end_is_given_up(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    notes: list[str] = []
    never = threading.Event()

    @app.on_shutdown
    async def last() -> None:
        notes.append("last")

    @app.on_shutdown
    async def stubborn() -> None:
        while not never.is_set():
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                notes.append("not yet")
                await asyncio.sleep(0.1)

    @app.on_shutdown
    def blocking() -> None:
        never.wait()

    await work(app, WorkerSettings(hook_timeout=0.05))
    never.set()
    assert "last" in notes
    for name in ("stubborn", "blocking"):
        assert f"the shutdown hook {name} took longer than 0.05 s and was given up" in caplog.text
    await asyncio.sleep(0.2)


async def test_shutdown_hooks_run_once_and_only_after_a_start(app: Windlass) -> None:
    notes: list[str] = []
    app.on_shutdown(lambda: notes.append("end"))
    worker = await app.worker()
    await worker.stop()
    assert notes == []
    worker = await app.worker()
    await worker.start()
    await worker.stop()
    await worker.stop()
    assert notes == ["end"]


def takes_something(name: str) -> None: ...


def yields() -> Iterator[None]:
    yield


@pytest.mark.parametrize(
    ("func", "sentence"),
    [
        (takes_something, "takes_something is a hook and can take resources only, as in name="),
        (yields, "yields yields: make it a resource, a hook is only called."),
        (Path, "A hook is made of a function; decorate a def or an async def."),
        ("warm", "A hook is made of a function"),
    ],
)
def test_what_cannot_be_a_hook_is_refused(func: Callable[..., Any], sentence: str) -> None:
    app = Windlass("memory://")
    for declare in (app.on_startup, app.on_shutdown):
        with pytest.raises(InvalidOption) as caught:
            declare(func)
        assert sentence in str(caught.value)


@pytest.mark.parametrize("value", [-1, float("inf"), float("nan")])
def test_a_wrong_hook_timeout_is_refused(value: float) -> None:
    with pytest.raises(ConfigError, match="hook_timeout must"):
        WorkerSettings(hook_timeout=value)


HOOKS = """
from pathlib import Path
from shop import app

@app.on_startup
def check() -> None:
    if not Path("ready").exists():
        raise ConnectionError("the shop is not ready")

@app.on_shutdown
async def note() -> None:
    Path("ended").touch()
"""


def test_the_command_ends_with_1_and_one_sentence_if_a_hook_fails(tmp_path: Path) -> None:
    program = Program(tmp_path)
    (tmp_path / "hooked.py").write_text(HOOKS, "utf-8")
    done = program("worker", "hooked:app")
    assert done.returncode == 1
    assert done.stderr == (
        "windlass: The worker did not start: the start-up hook check failed: "
        "ConnectionError: the shop is not ready\n"
    )
    (tmp_path / "ready").touch()
    with program.started("worker", "hooked:app") as worker:
        read_until(worker, "started")
        worker.terminate()
        assert worker.wait(timeout=PATIENCE) == 0
    assert (tmp_path / "ended").exists()
