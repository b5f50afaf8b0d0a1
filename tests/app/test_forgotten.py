"""Jobs that nobody awaits, on event loops that end: they are stored, or it is told."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from tests.servers import fork_server
from tests.servers.ports import free_port
from windlass import State, Task, Windlass
from windlass.core.model import NewJob, Receipt, Spec
from windlass.errors import StoreUnavailable
from windlass.intake import Intake
from windlass.stores.contract import Store
from windlass.stores.memory import MemoryStore

Add = Task[[int], int, int]
Main = Callable[[Add], Coroutine[Any, Any, None]]


@pytest.fixture(params=ENGINES)
def app(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Windlass]:
    app = Windlass(url_of(request, tmp_path))
    yield app
    app.close()


def declared(app: Windlass) -> Add:
    @app.task
    def add(a: int) -> int:
        return a

    return add


def is_stored(add: Add, *ids: str) -> bool:
    return all(add.handle(id).get().state is State.PENDING for id in ids)


async def never_a_turn(add: Add) -> None:
    add.using(id="j0").aenqueue(0)


async def one_turn(add: Add) -> None:
    add.using(id="j0").aenqueue(0)
    await asyncio.sleep(0)


async def many(add: Add) -> None:
    for n in range(700):
        add.using(id=f"j{n}").aenqueue(n)
    await asyncio.sleep(0)


async def after_others(add: Add) -> None:
    """The store is open, and something is under way."""
    await add.aenqueue(1)
    for n in range(20):
        add.using(id=f"j{n}").aenqueue(n)
        await asyncio.sleep(0)


async def as_the_loop_ends(add: Add) -> None:
    """By a task that has its turn when the event loop begins to end."""

    async def late() -> None:
        await asyncio.sleep(0)
        add.using(id="j0").aenqueue(0)

    late.__dict__["task"] = asyncio.create_task(late())
    await asyncio.sleep(0)


async def in_a_task_that_fails(add: Add) -> None:
    add.using(id="j0").aenqueue(0)
    raise ZeroDivisionError


@pytest.mark.parametrize("main", [never_a_turn, one_turn, many, after_others, as_the_loop_ends])
def test_a_forgotten_await_loses_no_job_of_asyncio_run(
    app: Windlass, main: Main, caplog: pytest.LogCaptureFixture
) -> None:
    add = declared(app)
    asyncio.run(main(add))
    number = {"many": 700, "after_others": 20}.get(main.__name__, 1)
    assert is_stored(add, *(f"j{n}" for n in range(number)))
    assert not caplog.records


def test_nor_does_one_in_a_program_that_fails(app: Windlass) -> None:
    add = declared(app)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_a_task_that_fails(add))
    assert is_stored(add, "j0")


def test_a_caller_who_is_cancelled_by_the_end_has_its_job_stored(app: Windlass) -> None:
    add = declared(app)
    callers = set()

    async def call() -> None:
        await add.using(id="j0").aenqueue(0)

    async def main() -> None:
        callers.add(asyncio.create_task(call()))
        await asyncio.sleep(0)

    asyncio.run(main())
    assert all(caller.cancelled() for caller in callers)
    assert is_stored(add, "j0")


PROGRAM = """
import asyncio, sys
from windlass import State, Windlass
app = Windlass(sys.argv[1])

@app.task
def add(a: int) -> int:
    return a

async def never_a_turn():
    add.using(id="j0").aenqueue(0)

async def many():
    for n in range(700):
        add.using(id=f"j{n}").aenqueue(n)
    await asyncio.sleep(0)

async def after_others():
    await add.aenqueue(1)
    for n in range(20):
        add.using(id=f"j{n}").aenqueue(n)
        await asyncio.sleep(0)

async def look(number):
    async with asyncio.timeout(30):
        store = await app.client.store()
        while len(await store.get([f"j{n}" for n in range(number)])) < number:
            await asyncio.sleep(0.01)

loop = asyncio.new_event_loop()
loop.run_until_complete(globals()[sys.argv[2]]())
if "close" in sys.argv[3]:
    loop.close()
number = {"many": 700, "after_others": 20}.get(sys.argv[2], 1)
if "call" in sys.argv[3]:
    assert all(add.handle(f"j{n}").get().state is State.PENDING for n in range(number))
    app.close()
    print("stored")
elif "loop" in sys.argv[3]:
    asyncio.run(look(number))
    print("stored")
"""


@pytest.fixture(params=[name for name in ENGINES if name != "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


@pytest.mark.parametrize("main", ["never_a_turn", "many", "after_others"])
def test_of_a_loop_that_was_only_closed_the_next_call_brings_them(url: str, main: str) -> None:
    done = fork_server.run(
        ["-c", PROGRAM, url, main, "close, then call"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "stored\n", done.stderr


def test_so_does_the_next_call_on_another_loop(url: str) -> None:
    done = fork_server.run(
        ["-c", PROGRAM, url, "after_others", "close, then loop"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "stored\n", done.stderr


@pytest.mark.parametrize(
    ("how", "main", "number"), [("close", "after_others", 20), ("leave", "never_a_turn", 1)]
)
def test_the_exit_of_the_interpreter_brings_what_is_left_or_says_so(
    url: str, how: str, main: str, number: int
) -> None:
    command = [sys.executable, "-c", PROGRAM, url, main, how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert "destroyed" not in done.stderr
    app = Windlass(url)
    told = "not stored (add): the event loop closed first; await aenqueue():"
    try:
        # Of the interpreter's own: from 3.12 on it starts no thread any more at its exit.
        embedded = url.startswith(("sqlite", "redis"))
        assert (told in done.stderr and not embedded) or is_stored(
            declared(app), *(f"j{n}" for n in range(number))
        ), done.stderr
    finally:
        app.close()


DAEMON = """
import asyncio, sys, threading
from windlass import Windlass
app = Windlass(sys.argv[1])

@app.task
def add(a: int) -> int:
    return a

async def main():
    for n in range(20):
        add.using(id=f"j{n}").aenqueue(n)

async def blocked():
    await main()
    threading.Event().wait()

loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()
if sys.argv[2] == "goes on":
    asyncio.run_coroutine_threadsafe(main(), loop).result()
else:
    import windlass.intake
    windlass.intake.FAREWELL = 0.2
    asyncio.run_coroutine_threadsafe(blocked(), loop)
    while not windlass.intake.Intake.busy:
        pass
"""


def test_the_exit_waits_for_a_loop_that_goes_on_in_a_daemon_thread(url: str) -> None:
    command = ["-c", DAEMON, url, "goes on"]
    done = fork_server.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    app = Windlass(url)
    try:
        assert is_stored(declared(app), *(f"j{n}" for n in range(20)))
    finally:
        app.close()


def test_what_such_a_loop_does_not_bring_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-c", DAEMON, f"sqlite:///{tmp_path}/jobs.db", "is blocked"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    told = "20 jobs were not stored (add): the program ended first; await aenqueue(): the store"
    assert told in done.stderr


def test_a_unique_job_that_was_under_way_is_there_once(app: Windlass) -> None:
    add = declared(app)

    async def main() -> None:
        await add.aenqueue(1)
        for _ in range(30):
            add.using(unique="one").aenqueue(1)
            await asyncio.sleep(0)

    asyncio.run(main())

    async def count() -> int:
        store = await app.client.store()
        return sum(each.counts.get(State.PENDING, 0) for each in await store.queues())

    assert asyncio.run(count()) == 2


def test_what_a_store_that_is_away_does_not_take_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = Windlass(f"redis://127.0.0.1:{free_port()}?patience=0.1")
    add = declared(app)
    loop = asyncio.new_event_loop()
    loop.run_until_complete(never_a_turn(add))
    loop.close()
    with pytest.raises(StoreUnavailable):
        add.enqueue(1)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith(
        "1 job was not stored (add): the event loop closed first; await aenqueue(): Redis at"
    )


def test_an_exception_that_nobody_retrieves_is_told_by_asyncio(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Windlass(f"redis://127.0.0.1:{free_port()}?patience=0.1")
    asyncio.run(never_a_turn(declared(app)))
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[0] is StoreUnavailable


class Slow(MemoryStore):
    """Takes nothing before its gate opens, if ever."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        self.calls += 1
        await asyncio.get_running_loop().create_future()
        raise AssertionError


def test_a_store_that_never_answers_delays_the_end_for_a_bounded_time(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.intake.FAREWELL", 0.2)
    slow = Slow()

    async def main() -> None:
        async def opened() -> Store:
            return slow

        intake = Intake(opened, lambda jobs, error: None)
        for n in range(3):
            intake.put([NewJob(f"j{n}", Spec("add", b""))], lambda jobs, receipts: None)
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert slow.calls == 2
    (record,) = caplog.records
    assert "3 jobs were not stored (add): the event loop closed first" in record.getMessage()
    assert not Intake.busy
