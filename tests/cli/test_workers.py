"""`windlass workers`: who is alive."""

import json

import pytest

from tests.cli.conftest import Call
from windlass import Windlass
from windlass.core.clock import system_clock
from windlass.core.workers import WorkerInfo


@pytest.fixture
def alive(app: Windlass) -> WorkerInfo:
    """A worker that said so a moment ago; its clock is three minutes ahead of its start."""
    info = WorkerInfo("w1", "box", 42, ("mail:3", "low"), 10, system_clock() - 180_500, active=7)
    app.client.block(lambda store: store.beat(info, 60_000), "", "")
    app.close()
    return info


@pytest.mark.usefixtures("alive")
def test_a_row_tells_where_what_and_how_busy(call: Call) -> None:
    head, row = call("workers").stdout.splitlines()
    assert head.split() == ["id", "host", "pid", "queues", "active", "started", "seen"]
    assert row.split()[:8] == ["w1", "box", "42", "mail:3,low", "7/10", "3", "min", "ago"]


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
        "active": 7,
    }


def test_nobody_is_said_in_words_and_is_an_empty_list_in_json(call: Call, url: str) -> None:
    call("migrate")
    assert call("workers").stdout == f"No worker is heard of in {url}.\n"
    assert json.loads(call("workers", "--json").stdout) == []
