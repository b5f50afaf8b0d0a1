"""`windlass jobs` and `windlass queues`: what is listed, in which order, page by page."""

import json
from typing import Any

import pytest
from click.testing import Result

from tests.cli.conftest import Call
from windlass import Windlass
from windlass.stores.contract import SCAN_BATCH

RECORD = {
    "id", "task", "queue", "state", "priority", "attempt", "max_retries", "lost", "timeout",
    "keep", "unique", "labels", "created_at", "due_at", "started_at", "finished_at", "lease_until",
    "worker", "fence", "content_type", "error", "fingerprint", "progress", "workflow",
    "depends_on", "waits_for", "orphaned", "awaits", "signals", "lane", "group",
}  # fmt: skip


@pytest.fixture
def filled(app: Windlass) -> Windlass:
    """Two queues and two tasks: five pending jobs, a scheduled and a cancelled one."""

    @app.task
    def send(n: int) -> None: ...

    @app.task(queue="low")
    def sweep() -> None: ...

    app.enqueue_many(send.using(id=f"send-{n}").call(n) for n in range(4))
    sweep.using(id="sweep-0").enqueue()
    sweep.using(id="later", delay=3600).enqueue()
    sweep.using(id="off").enqueue().cancel()
    app.close()
    return app


def ids(result: Result) -> list[str]:
    """The first column of a table."""
    assert result.exit_code == 0, result.stderr
    head, *rows = result.stdout.splitlines()
    assert head.split() == ["id", "state", "task", "queue", "runs", "when"]
    return [row.split()[0] for row in rows]


@pytest.mark.usefixtures("filled")
def test_jobs_come_state_by_state_in_the_order_in_which_they_will_run(call: Call) -> None:
    pending = ["send-0", "send-1", "send-2", "send-3", "sweep-0"]
    assert ids(call("jobs")) == [*pending, "later", "off"]


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--state", "scheduled"], ["later"]),
        (["-s", "cancelled", "-s", "scheduled", "-s", "cancelled"], ["off", "later"]),
        (["--queue", "low"], ["sweep-0", "later", "off"]),
        (["--task", "sweep", "--state", "pending"], ["sweep-0"]),
        (["-q", "default", "-t", "send", "-n", "2"], ["send-0", "send-1"]),
    ],
)
def test_jobs_can_be_filtered(call: Call, words: list[str], found: list[str]) -> None:
    assert ids(call("jobs", *words)) == found


@pytest.mark.usefixtures("filled")
def test_a_row_tells_state_task_queue_runs_and_time(call: Call) -> None:
    row = call("jobs", "-s", "scheduled").stdout.splitlines()[1].split()
    assert row[:5] == ["later", "scheduled", "sweep", "low", "0/4"]
    assert row[5:] == ["in", "59", "min"]


@pytest.mark.usefixtures("filled")
def test_the_cursor_of_one_page_leads_to_the_next_until_all_were_listed(call: Call) -> None:
    seen, words = [], ["jobs", "--limit", "2"]
    for _ in range(4):
        result = call(*words)
        seen.append(ids(result))
        if not result.stderr:
            break
        text, cursor = result.stderr.rsplit(maxsplit=1)
        assert text == "There are more; go on with --cursor"
        words = ["jobs", "--limit", "2", "--cursor", cursor]
    assert seen == [["send-0", "send-1"], ["send-2", "send-3"], ["sweep-0", "later"], ["off"]]


def test_a_listing_goes_on_over_pages_of_the_store_that_match_nothing(
    call: Call, app: Windlass
) -> None:
    @app.task
    def common() -> None: ...

    @app.task(priority=0)
    def rare() -> None: ...

    app.enqueue_many(common.call() for _ in range(2 * SCAN_BATCH + 1))
    rare.using(id="needle").enqueue()
    app.close()
    assert ids(call("jobs", "--task", "rare", "--limit", "1")) == ["needle"]
    assert len(ids(call("jobs", "--limit", str(10 * SCAN_BATCH)))) == 2 * SCAN_BATCH + 2


@pytest.mark.usefixtures("filled")
def test_jobs_as_json_have_the_promised_names(call: Call) -> None:
    result = call("jobs", "--json", "--limit", "6")
    records: list[dict[str, Any]] = json.loads(result.stdout)
    assert [record["id"] for record in records][-1] == "later"
    assert all(record.keys() == RECORD for record in records)
    first = records[0]
    assert (first["state"], first["queue"], first["task"]) == ("pending", "default", "send")
    assert (first["keep"], first["labels"], first["error"]) == (86400.0, {}, None)
    assert first["created_at"].endswith("Z")
    assert "--cursor" in result.stderr


def test_nothing_to_list_is_said_in_words_and_is_an_empty_list_in_json(
    call: Call, url: str
) -> None:
    assert call("migrate").exit_code == 0
    assert call("jobs").stdout == f"There are no such jobs in {url}.\n"
    assert call("queues").stdout == f"There are no queues in {url}.\n"
    assert json.loads(call("jobs", "--json").stdout) == []
    assert json.loads(call("queues", "--json").stdout) == []


@pytest.mark.usefixtures("filled")
def test_queues_are_counted_in_the_states_that_there_are(call: Call) -> None:
    assert [line.split() for line in call("queues").stdout.splitlines()] == [
        ["queue", "scheduled", "pending", "cancelled"],
        ["default", "0", "4", "0"],
        ["low", "1", "1", "1"],
    ]


def test_a_paused_queue_is_marked(call: Call, filled: Windlass) -> None:
    filled.client.block(lambda store: store.pause("low"), "", "")
    filled.close()
    assert [line.split()[-1] for line in call("queues").stdout.splitlines()] == [
        "paused",
        "0",
        "paused",
    ]
    paused = {
        queue["name"]: queue["paused"] for queue in json.loads(call("queues", "--json").stdout)
    }
    assert paused == {"default": False, "low": True}


@pytest.mark.usefixtures("filled")
def test_queues_as_json_have_every_state(call: Call) -> None:
    _, low = json.loads(call("queues", "--json").stdout)
    assert low == {
        "name": "low",
        "paused": False,
        "counts": {
            "blocked": 0,
            "scheduled": 1,
            "pending": 1,
            "active": 0,
            "retry": 0,
            "completed": 0,
            "dead": 0,
            "cancelled": 1,
        },
    }
