"""`windlass workers`: who is alive, and what they are told."""

import json

import msgspec
import pytest

from tests.cli.conftest import Call
from windlass import Windlass
from windlass.core.clock import system_clock
from windlass.core.workers import WorkerInfo


@pytest.fixture
def alive(app: Windlass) -> WorkerInfo:
    """A worker that said so a moment ago; its clock is three minutes ahead of its start."""
    info = WorkerInfo("w1", "box", 42, ("mail:3", "low"), 10, system_clock() - 180_500, active=7)
    info = msgspec.structs.replace(info, completed=5000, failed=2)
    app.client.block(lambda store: store.beat(info, 60_000), "", "")
    app.close()
    return info


@pytest.mark.usefixtures("alive")
def test_a_row_tells_where_what_and_how_busy(call: Call) -> None:
    head, row = call("workers").stdout.splitlines()
    assert head.split() == [
        "id",
        "host",
        "pid",
        "queues",
        "active",
        "completed",
        "failed",
        "started",
        "seen",
    ]
    assert row.split()[:8] == ["w1", "box", "42", "mail:3,low", "7/10", "5,000", "2", "3"]


def test_programs_get_the_same_with_moments(call: Call, alive: WorkerInfo) -> None:
    (worker,) = json.loads(call("workers", "--json").stdout)
    assert worker.pop("started_at").endswith("Z")
    assert worker.pop("seen_at") > "2025"
    assert worker == {
        "id": "w1",
        "host": "box",
        "pid": 42,
        "queues": ["mail:3", "low"],
        "concurrency": 10,
        "threads": 0,
        "active": 7,
        "memory": 0,
        "quiet": False,
        "order": None,
        "fault": "",
        "completed": 5000,
        "failed": 2,
    }


def test_nobody_is_said_in_words_and_is_an_empty_list_in_json(call: Call, url: str) -> None:
    call("migrate")
    assert call("workers").stdout == f"No worker is heard of in {url}.\n"
    assert json.loads(call("workers", "--json").stdout) == []


@pytest.mark.parametrize(
    ("command", "order", "sentence"),
    [
        ("quiet", "quiet", "Told 1 worker to be quiet.\n"),
        ("resume", "work", "Told 1 worker to work.\n"),
        ("stop", "stop", "Told 1 worker to stop.\n"),
    ],
)
def test_a_worker_is_told_what_to_do(
    call: Call, app: Windlass, alive: WorkerInfo, command: str, order: str, sentence: str
) -> None:
    result = call("workers", command, "w1")
    assert (result.exit_code, result.stdout, result.stderr) == (0, sentence, "")
    assert app.client.block(lambda store: store.beat(alive, 60_000), "", "") == order
    app.close()


@pytest.mark.usefixtures("alive")
def test_one_that_nobody_has_heard_of_is_named_and_the_others_are_told(call: Call) -> None:
    result = call("workers", "stop", "w1", "w2", "w1")
    assert (result.exit_code, result.stdout) == (3, "Told 1 worker to stop.\n")
    assert result.stderr == "windlass: No worker w2 is heard of.\n"
    result = call("workers", "stop", "w1", "w2", "--json")
    assert result.exit_code == 3
    assert json.loads(result.stdout) == {
        "count": 1,
        "ids": ["w1"],
        "refused": {"w2": "No worker w2 is heard of."},
    }


def test_a_quiet_worker_is_listed_as_one(call: Call, app: Windlass, alive: WorkerInfo) -> None:
    quiet = msgspec.structs.replace(alive, quiet=True)
    app.client.block(lambda store: store.beat(quiet, 60_000), "", "")
    app.close()
    assert "7/10 quiet" in call("workers").stdout


def test_a_worker_that_cannot_work_is_listed_with_the_reason(
    call: Call, app: Windlass, alive: WorkerInfo
) -> None:
    stuck = msgspec.structs.replace(alive, fault="The event loop has been blocked for 7 s.")
    app.client.block(lambda store: store.beat(stuck, 60_000), "", "")
    app.close()
    head, row = call("workers").stdout.splitlines()
    assert head.split()[-1] == "fault"
    assert row.endswith("The event loop has been blocked for 7 s.")


@pytest.mark.usefixtures("alive")
def test_options_in_front_of_what_they_are_for_are_not_passed_over(call: Call) -> None:
    result = call("workers", "--json", "quiet", "w1")
    assert result.exit_code == 2
    assert "Put options behind the command: windlass workers quiet" in result.stderr


@pytest.mark.usefixtures("alive")
def test_a_command_that_is_mistyped_is_told_what_was_meant(call: Call) -> None:
    result = call("workers", "quite", "w1")
    assert result.exit_code == 2
    assert "There is no command workers quite: did you mean quiet?" in result.stderr
