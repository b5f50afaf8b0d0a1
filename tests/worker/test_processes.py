"""`process=True`: handlers in child processes, and what becomes of them."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.worker.handlers import (
    Picky,
    Point,
    about,
    climbing,
    dying,
    failing,
    mirrored,
    pid,
    sleeping,
    slow,
    unpicklable,
)
from windlass import Depends, State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Job, Progress
from windlass.declaration import Declaration
from windlass.errors import InvalidOption, JobFailed
from windlass.testing.work import until, work

ONE = WorkerSettings(concurrency=1)


@pytest.fixture
def url() -> str:
    """Where the jobs are makes no difference here."""
    return "memory://"


def with_pool(pool: int = Depends(Windlass("memory://").resource(pid))) -> None: ...


async def ran(app: Windlass, func: object, *args: object, **options: object) -> Job:
    """The job of one call, after a worker had it."""
    declared: Declaration = {"process": True, **options}  # type: ignore[typeddict-item]
    task = app.task(**declared)(func)  # type: ignore[call-overload]
    job = await task.aenqueue(*args)
    await work(app)
    found: Job = await job.aget()
    return found


async def test_one_child_serves_many_jobs_and_ends_with_the_worker(app: Windlass) -> None:
    task = app.task(process=True)(pid)
    jobs = await app.aenqueue_many([task.call() for _ in range(5)])
    await work(app, ONE)
    [child] = {await job.aresult() for job in jobs}
    assert child != os.getpid()
    await until(lambda: not is_alive(child))


async def test_arguments_and_results_keep_their_types(app: Windlass) -> None:
    task = app.task(process=True)(mirrored)
    job = await task.aenqueue(Point(1, 2), factor=10)
    await work(app)
    assert await job.aresult() == Point(20, 10)


async def test_there_are_no_more_processes_than_jobs_at_once(app: Windlass, tmp_path: Path) -> None:
    task = app.task(process=True)(slow)
    notes = [tmp_path / str(n) for n in range(3)]
    jobs = await app.aenqueue_many([task.call(str(note)) for note in notes])
    worker = await app.worker(WorkerSettings(concurrency=2))
    await worker.start()
    await until(lambda: notes[0].exists() and notes[1].exists())
    assert not notes[2].exists()
    notes[0].unlink()
    await until(notes[2].exists)
    notes[1].unlink()
    notes[2].unlink()
    assert [await job.aresult(timeout=20) for job in jobs] == ["done"] * 3
    await worker.stop()


async def test_the_context_is_there_as_well(app: Windlass) -> None:
    task = app.task(process=True, context=True)(about)
    job = await task.aenqueue("words")
    await work(app)
    fence = (await job.aget()).fence
    assert await job.aresult() == [job.id, 1, fence, "about", "words", True]


async def test_progress_comes_through(app: Windlass) -> None:
    job = await ran(app, climbing, context=True)
    assert (job.state, job.progress) == (State.COMPLETED, Progress(100, "at 100"))


async def test_a_failure_is_told_as_if_it_were_raised_here(app: Windlass) -> None:
    job = await ran(app, failing, "plain", max_retries=0)
    assert job.state is State.DEAD and job.error is not None
    assert (job.error.kind, job.error.message) == ("ValueError", "plain words")
    lines = job.error.traceback.splitlines()
    assert lines[0].startswith("Traceback") and lines[-1] == "ValueError: plain words"
    assert [line.rpartition("in ")[2] for line in lines if line.startswith("  File")] == ["failing"]


async def test_the_rules_for_errors_hold(app: Windlass) -> None:
    cases: list[tuple[str, str, Declaration, State]] = [
        ("plain", "ValueError", {"retry_on": ValueError}, State.RETRY),
        ("plain", "ValueError", {"retry_on": ConnectionError}, State.DEAD),
        ("plain", "ValueError", {"fatal_on": ValueError}, State.DEAD),
        ("picky", "Picky", {"retry_on": Picky}, State.RETRY),
        ("picky", "Picky", {"fatal_on": ConnectionError}, State.DEAD),
        ("local", "Local", {"retry_on": ConnectionError}, State.RETRY),
        ("exit", "SystemExit", {}, State.RETRY),
        ("exit", "SystemExit", {"retry_on": Exception}, State.DEAD),
        ("fatal", "Fatal", {}, State.DEAD),
        ("retry", "Retry", {}, State.RETRY),
    ]
    jobs = []
    for n, (kind, _, rules, _) in enumerate(cases):
        own: Declaration = {"process": True, "name": f"{kind}-{n}", "backoff": 3600}
        own.update(rules)
        task = app.task(**own)(failing)
        jobs.append(await task.aenqueue(kind))
    await work(app, ONE)
    for (kind, name, _, state), handle in zip(cases, jobs, strict=True):
        job = await handle.aget()
        assert job.error is not None
        assert (kind, job.state, job.error.kind) == (kind, state, name)
        assert "in failing" in job.error.traceback


async def test_a_handler_can_snooze_and_choose_its_wait(app: Windlass) -> None:
    job = await ran(app, failing, "snooze", max_retries=0)
    assert (job.state, job.attempt, job.due - job.created_at > 3_500_000) == (
        State.SCHEDULED,
        0,
        True,
    )


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("exit", "the process of the handler ended with exit code 7"),
        ("SIGKILL", "the process of the handler was killed by SIGKILL"),
        ("SIGSEGV", "the process of the handler was killed by SIGSEGV"),
    ],
)
async def test_a_child_that_dies_fails_its_own_attempt_only(
    app: Windlass, how: str, reason: str
) -> None:
    deadly = app.task(process=True, max_retries=0)(dying)
    fine = app.task(process=True)(pid)
    before, bad, after = [
        await each.aenqueue(*args) for each, args in ((fine, ()), (deadly, (how,)), (fine, ()))
    ]
    await work(app, ONE)
    with pytest.raises(JobFailed, match=reason) as caught:
        await bad.aresult()
    assert caught.value.kind == "ProcessDied"
    assert await before.aresult() != await after.aresult()


async def test_a_child_that_died_while_it_was_idle_costs_nobody_an_attempt(app: Windlass) -> None:
    task = app.task(process=True, max_retries=0)(pid)
    worker = await app.worker(ONE)
    await worker.start()
    first = await (await task.aenqueue()).aresult(timeout=20)
    os.kill(first, signal.SIGKILL)
    # Of all its threads: until the last is gone, its end of the pipe is open.
    await until(lambda: is_zombie(first) and len(os.listdir(f"/proc/{first}/task")) == 1)
    second = await (await task.aenqueue()).aresult(timeout=20)
    assert second != first
    await worker.stop()


async def test_a_result_that_cannot_be_pickled_fails_with_the_reason(app: Windlass) -> None:
    job = await ran(app, unpicklable, max_retries=0)
    assert job.error is not None
    assert job.error.kind == "UnencodableValue"
    assert job.error.message.startswith("The result of unpicklable cannot leave its child process")


async def test_a_child_is_killed_when_its_time_is_up(app: Windlass, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    # The start of a child takes what it takes, so there is one already.
    warm = await app.task(process=True)(pid).aenqueue()
    task = app.task(process=True, timeout=2, max_retries=1, backoff=3600)(sleeping)
    job = await task.aenqueue(str(note))
    await work(app, ONE)
    found = await job.aget()
    assert found.error is not None
    assert (found.state, found.attempt, found.error.kind) == (State.RETRY, 1, "AttemptTimeout")
    # Killed, not asked: it could not clean up.
    assert int(note.read_text("ascii")) == await warm.aresult()
    assert not is_alive(await warm.aresult())


async def test_a_child_is_killed_when_its_job_is_cancelled(app: Windlass, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    task = app.task(process=True)(sleeping)
    job = await task.aenqueue(str(note))
    worker = await app.worker(WorkerSettings(lease=0.4))
    await worker.start()
    await until(lambda: note.exists() and bool(note.read_text("ascii")))
    await job.acancel()
    await until(lambda: not is_alive(int(note.read_text("ascii"))))
    await worker.stop()
    found = await job.aget()
    assert (found.state, found.attempt) == (State.CANCELLED, 1)


async def test_a_child_is_killed_and_its_job_released_on_shutdown(
    app: Windlass, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    job = await app.task(process=True)(sleeping).aenqueue(str(note))
    worker = await app.worker(WorkerSettings(shutdown_timeout=0.05))
    await worker.start()
    await until(lambda: note.exists() and bool(note.read_text("ascii")))
    await worker.stop()
    await until(lambda: not is_alive(int(note.read_text("ascii"))))
    found = await job.aget()
    assert (found.state, found.attempt) == (State.PENDING, 0)


SHOP = """
import asyncio, os, pathlib, re, sys
from windlass import Windlass
from windlass.core.model import JobQuery

app = Windlass("memory://")

@app.task(process=True)
def stuck_in_c(note: str) -> None:
    pathlib.Path(note).write_text(str(os.getpid()), "ascii")
    re.match("(a|a)*b", "a" * 60)

async def main() -> None:
    await stuck_in_c.aenqueue(sys.argv[1])
    worker = await app.worker()
    await worker.run()

if __name__ == "__main__":
    asyncio.run(main())
"""


async def test_children_end_when_their_worker_is_killed(tmp_path: Path) -> None:
    """The handler is in the main module, and holds the interpreter so that no thread can run."""
    note = tmp_path / "pid"
    (tmp_path / "shop.py").write_text(SHOP, "utf-8")
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = (sys.executable, "shop.py", str(note))
    worker = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, env=environ)
    await until(lambda: note.exists() and bool(note.read_text("ascii")))
    child = int(note.read_text("ascii"))
    assert is_alive(child)
    worker.kill()
    assert await worker.wait() == -signal.SIGKILL
    await until(lambda: not is_alive(child))


def test_a_function_that_cannot_be_imported_is_refused_at_once() -> None:
    app = Windlass("memory://")

    def local() -> None: ...

    for func in (local, lambda: None, Point(1, 2).__eq__):
        with pytest.raises(InvalidOption, match="must be importable: make it a function at the"):
            app.task(process=True, name="any")(func)


def test_an_async_function_is_refused_at_once() -> None:
    with pytest.raises(InvalidOption, match="sleep is an async def, which process=True cannot run"):
        Windlass("memory://").task(process=True)(asyncio.sleep)


def test_a_resource_is_refused_because_it_is_open_in_the_worker_only() -> None:
    with pytest.raises(InvalidOption, match="'pool' of with_pool is opened in the worker"):
        Windlass("memory://").task(process=True)(with_pool)


async def test_a_main_module_that_starts_a_worker_on_import_is_told_so(tmp_path: Path) -> None:
    unguarded = SHOP.partition("if __name__")[0].replace("await worker.run()", RUN_ONE)
    (tmp_path / "shop.py").write_text(unguarded + "asyncio.run(main())", "utf-8")
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "shop.py", "x"), cwd=tmp_path, env=environ, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(20):
        printed, _ = await program.communicate()
    assert program.returncode == 0
    assert printed.startswith(b"UsageError: A child process has to import the main module, which")


RUN_ONE = """await worker.start()
    store = await app.client.store()
    while True:
        [job] = (await store.find(JobQuery())).jobs
        if job.error: break
        await asyncio.sleep(0.01)
    print(job.error)
    await worker.stop()"""


def is_alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return not is_zombie(pid)
    return False


def is_zombie(pid: int) -> bool:
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "Z"
    return False
