"""`windlass purge`: empties a queue, after a question."""

import json
from typing import Any

import pytest

from tests.cli.conftest import Call
from tests.cli.program import Program
from tests.cli.terminal import on_terminal
from windlass import Windlass
from windlass.admin.change import BATCH
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.stores.sqlite.store import SqliteStore
from windlass.testing.jobs import bring, claim, put


async def fill(store: Store) -> None:
    """One job in each state but blocked, in one queue; a pending one in another."""
    for state in State:
        if state not in (State.BLOCKED, State.PENDING):
            await bring(store, state.value, state, queue="mail")
    await put(store, "pending", queue="mail")
    await put(store, "elsewhere", queue="other")


@pytest.fixture
def filled(app: Windlass) -> Windlass:
    app.client.block(fill, "", "")
    app.close()
    return app


def ids(call: Call) -> set[str]:
    return {job["id"] for job in json.loads(call("jobs", "--json").stdout)}


ALL = {state.value for state in State if state is not State.BLOCKED} | {"elsewhere"}


@pytest.mark.usefixtures("filled")
def test_it_deletes_what_waits_in_the_queue_and_nothing_else(call: Call) -> None:
    result = call("purge", "mail", "--yes")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "Deleted 3 jobs.\n", "")
    assert ids(call) == ALL - {"pending", "scheduled", "retry"}


@pytest.mark.usefixtures("filled")
def test_the_states_can_be_chosen(call: Call) -> None:
    result = call("purge", "mail", "-s", "completed", "-s", "retry", "--json", "-y")
    assert (result.exit_code, json.loads(result.stdout)) == (0, {"count": 2, "left": 0})
    assert ids(call) == ALL - {"completed", "retry"}


@pytest.mark.usefixtures("filled")
def test_the_task_can_be_chosen(call: Call, app: Windlass) -> None:
    @app.task(queue="mail")
    def other() -> None: ...

    other.using(id="other").enqueue()
    app.close()
    assert call("purge", "mail", "--task", "other", "--yes").stdout == "Deleted 1 job.\n"
    assert ids(call) == ALL


@pytest.mark.usefixtures("filled")
def test_nothing_to_delete_is_3(call: Call) -> None:
    result = call("purge", "nobodys")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == (
        "windlass: Nothing was deleted: there are no blocked, scheduled, retry or pending jobs "
        "in the queue nobodys.\n"
    )
    assert ids(call) == ALL


@pytest.mark.usefixtures("filled")
def test_without_a_terminal_it_needs_a_yes(call: Call) -> None:
    result = call("purge", "mail")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith("There is no terminal to ask on: add --yes to go on.\n")
    assert ids(call) == ALL


@pytest.fixture
def many(program: Program) -> Program:
    app = Windlass(program.url)
    app.client.block(
        lambda store: put(store, *(f"j{n}" for n in range(2 * BATCH + 1)), queue="mail"), "", ""
    )
    app.close()
    return program


def test_on_a_terminal_it_asks_and_shows_how_far_it_is(many: Program) -> None:
    no = on_terminal(many, "purge", "mail", typed="n\n")
    assert (no.code, no.stdout) == (1, "")
    assert f"Delete {2 * BATCH + 1:,} blocked, scheduled, retry or pending jobs" in no.seen
    assert "Deleting" not in no.seen
    yes = on_terminal(many, "purge", "mail", typed="y\n")
    assert (yes.code, yes.stdout) == (0, f"Deleted {2 * BATCH + 1:,} jobs.\n")
    assert "Deleting" in yes.seen
    assert f"{2 * BATCH + 1}/{2 * BATCH + 1}" in yes.seen


def test_without_a_terminal_there_is_no_bar(many: Program) -> None:
    done = many("purge", "mail", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"Deleted {2 * BATCH + 1:,} jobs.\n"


def test_what_ends_it_halfway_does_not_hide_how_far_it_came(
    call: Call, app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.client.block(lambda store: put(store, *(f"j{n}" for n in range(BATCH + 1))), "", "")
    app.close()
    find, calls = SqliteStore.find, []

    async def find_once(store: SqliteStore, query: object) -> object:
        calls.append(query)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return await find(store, query)  # type: ignore[arg-type]

    monkeypatch.setattr(SqliteStore, "find", find_once)
    result = call("purge", "default", "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"windlass: {BATCH} jobs had been gone through before this ended.\n" in result.stderr


@pytest.mark.usefixtures("filled")
def test_a_job_that_a_worker_takes_meanwhile_is_left_and_told(
    call: Call, app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    delete = SqliteStore.delete

    async def claim_first(store: SqliteStore, ids: list[str], states: Any) -> frozenset[str]:
        await claim(store, queue="other")
        return await delete(store, ids, states)

    monkeypatch.setattr(SqliteStore, "delete", claim_first)
    result = call("purge", "other", "--yes")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("windlass: 1 job could not be deleted: claimed, ")
    assert ids(call) == ALL
