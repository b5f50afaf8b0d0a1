"""`windlass move`: takes all jobs to another store, and says what it came to."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.cli.program import Program
from tests.cli.terminal import on_terminal
from windlass import Windlass
from windlass.admin import move as module
from windlass.admin.holds import NOTES
from windlass.admin.turn import ROLE
from windlass.cli.move import SHOWN
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.stores.sqlite.store import SqliteStore
from windlass.testing.jobs import bring, claim, finish, put


async def fill(store: Store) -> None:
    """One job in each state but active and blocked, in two queues."""
    for state in State:
        if state not in (State.BLOCKED, State.PENDING, State.ACTIVE):
            await bring(store, state.value, state, queue="mail")
    await put(store, "pending", "second", queue="mail")
    await put(store, "elsewhere", queue="other")


@pytest.fixture
def filled(app: Windlass) -> Windlass:
    app.client.block(fill, "", "")
    app.close()
    return app


@pytest.fixture
def target(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/target.db"


def on(url: str) -> Windlass:
    return Windlass(url)


def is_paused(app: Windlass) -> bool:
    return any(queue.paused for queue in app.client.block(lambda store: store.queues(), "", ""))


def ids(call: Call, url: str) -> set[str]:
    jobs = json.loads(call("jobs", "--url", url, "--json", "--limit", "1000").stdout)
    return {job["id"] for job in jobs if job["queue"] != NOTES}


ALL = {state.value for state in State if state not in (State.BLOCKED, State.ACTIVE)} | {
    "second",
    "elsewhere",
}


def test_a_source_that_is_not_there_is_told_and_not_made(
    call: Call, tmp_path: Path, url: str, target: str
) -> None:
    result = call("move", url, target, "--yes")
    assert result.exit_code != 0
    assert result.stderr.startswith("windlass: There is no SQLite file ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("filled")
def test_it_moves_everything_and_shows_it_in_one_table(call: Call, url: str, target: str) -> None:
    result = call("move", url, target, "--yes")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["queue", "state", "moved", "in", "target"]
    assert ["mail", "pending", "2", "2"] in lines
    assert ["other", "pending", "1", "1"] in lines
    assert lines[-1] == ["Moved", "8", "jobs."]
    assert (ids(call, url), ids(call, target)) == (set(), ALL)


@pytest.mark.usefixtures("filled")
def test_programs_get_json(call: Call, url: str, target: str) -> None:
    result = call("move", url, target, "--yes", "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (told["count"], told["left"], told["missing"]) == (8, [], {})
    assert {"queue": "mail", "state": "dead", "count": 1, "in_target": 1} in told["moved"]


def test_a_source_with_nothing_in_it_is_no_fault(call: Call, app: Windlass, target: str) -> None:
    app.client.block(fill, "", "")
    app.close()
    assert call("move", app.url, target, "--yes").exit_code == 0
    again = call("move", app.url, target, "--yes")
    assert (again.exit_code, again.stdout, again.stderr) == (0, "Moved 0 jobs.\n", "")


@pytest.mark.usefixtures("filled")
def test_a_job_that_cannot_move_is_named_and_it_exits_with_3(
    call: Call, app: Windlass, target: str
) -> None:
    app.client.block(lambda store: put(store, "keyed", unique="k"), "", "")
    app.close()
    other = on(target)
    other.client.block(lambda store: put(store, "holder", unique="k"), "", "")
    other.close()
    result = call("move", app.url, target, "--yes")
    assert result.exit_code == 3
    assert result.stdout.endswith("Moved 8 jobs.\n")
    assert result.stderr == (
        "windlass: Job keyed of the queue default: job holder on the target has its unique key "
        "k.\nwindlass: 1 job stayed on the source, where nothing runs.\n"
    )
    assert ids(call, app.url) == {"keyed"}


async def put_keyed(store: Store, prefix: str) -> None:
    for n in range(SHOWN + 5):
        await put(store, f"{prefix}-{n}", unique=f"k{n}")


def test_of_many_that_cannot_move_some_are_named(call: Call, app: Windlass, target: str) -> None:
    for url, prefix in ((app.url, "mine"), (target, "theirs")):
        store = on(url)
        store.client.block(partial(put_keyed, prefix=prefix), "", "")
        store.close()
    result = call("move", app.url, target, "--yes")
    assert result.exit_code == 3
    assert result.stderr.count("has its unique key") == SHOWN
    assert "The others of 25 jobs are left out here; --json names them all.\n" in result.stderr
    told = json.loads(call("move", app.url, target, "--yes", "--json").stdout)
    assert [left["id"] for left in told["left"]] == [f"mine-{n}" for n in range(SHOWN + 5)]


@pytest.mark.usefixtures("filled")
def test_without_a_terminal_it_needs_a_yes(call: Call, url: str, target: str) -> None:
    result = call("move", url, target)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith("There is no terminal to ask on: add --yes to go on.\n")
    assert ids(call, url) == ALL


def refused(call: Call, *words: str) -> str:
    result = call("move", *words, "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    return result.stderr


@pytest.mark.usefixtures("filled")
def test_what_cannot_be_is_refused_in_a_sentence(call: Call, url: str, tmp_path: Path) -> None:
    assert "known are" in refused(call, url, "ftp://nobody")
    memory = "windlass: A store in memory ends with its process: name another one.\n"
    assert refused(call, url, "memory://") == refused(call, "memory://", url) == memory
    one = "windlass: Source and target are one store: there is nothing to move.\n"
    assert refused(call, url, url) == one
    (tmp_path / "link.db").symlink_to(tmp_path / "jobs.db")
    assert refused(call, url, f"sqlite:///{tmp_path}/link.db") == one
    assert ids(call, url) == ALL


def test_a_source_that_is_not_there_is_not_made(call: Call, url: str, target: str) -> None:
    assert "jobs.db" in refused(call, url, target)
    assert not Path(url.removeprefix("sqlite:///")).exists()


def test_two_moves_at_once_are_refused(call: Call, filled: Windlass, target: str) -> None:
    filled.client.block(lambda store: store.elect(ROLE, "another", 60_000), "", "")
    filled.close()
    assert refused(call, filled.url, target) == (
        "windlass: Another move is under way on the source, or was killed a moment ago; if none "
        "runs, try again in 15 seconds.\n"
    )
    assert ids(call, filled.url) == ALL


def test_on_a_terminal_it_asks_and_shows_how_far_it_is(program: Program, target: str) -> None:
    number = 2 * module.BATCH + 1
    app = on(program.url)
    app.client.block(lambda store: put(store, *(f"j{n}" for n in range(number))), "", "")
    app.close()
    no = on_terminal(program, "move", program.url, target, typed="n\n")
    assert (no.code, no.stdout) == (1, "")
    assert f"Move {number} jobs from sqlite:///" in no.seen
    yes = on_terminal(program, "move", program.url, target, typed="y\n")
    assert yes.code == 0
    assert yes.stdout.endswith(f"Moved {number} jobs.\n")
    assert "Moving" in yes.seen
    assert f"{number}/{number}" in yes.seen


def test_on_a_terminal_it_says_what_it_waits_for(program: Program, target: str) -> None:
    app = on(program.url)
    app.client.block(lambda store: put(store, "a", "b"), "", "")
    [job] = app.client.block(lambda store: claim(store, 1, lease=600_000), "", "")

    def end_it_later() -> None:
        while not is_paused(app):
            time.sleep(0.02)
        # Paused, it looks for what is active and shows it; its bar is painted ten times a second.
        time.sleep(1)
        app.client.block(lambda store: finish(store, job, State.COMPLETED), "", "")

    with ThreadPoolExecutor(1) as pool:
        ending = pool.submit(end_it_later)
        ended = on_terminal(program, "move", program.url, target, "--yes")
        ending.result()
    app.close()
    assert ended.code == 0
    assert "Waiting for 1 job to end" in ended.seen


def test_what_ends_it_halfway_says_that_it_can_go_on(
    call: Call, filled: Windlass, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 3)
    find = SqliteStore.find

    async def find_twice(store: SqliteStore, query: object) -> object:
        if getattr(query, "cursor", None) is not None:
            raise KeyboardInterrupt
        return await find(store, query)  # type: ignore[arg-type]

    monkeypatch.setattr(SqliteStore, "find", find_twice)
    result = call("move", filled.url, target, "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "windlass: 3 jobs had moved before this ended; run it again to go on.\n" in (
        result.stderr
    )
    monkeypatch.undo()
    # It has resigned, so that the next one need not wait.
    done = call("move", filled.url, target, "--yes")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "Moved 5 jobs.")
    assert ids(call, target) == ALL


def test_ctrl_c_while_it_waits_ends_it_at_once(program: Program, target: str) -> None:
    app = on(program.url)
    app.client.block(lambda store: put(store, "a"), "", "")
    app.client.block(lambda store: claim(store, 1, lease=600_000), "", "")
    app.close()
    with program.started("move", program.url, target, "--yes") as process:
        look = on(program.url)
        while not is_paused(look):
            assert process.poll() is None
        look.close()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) == 1
