"""`windlass cancel`, `reschedule`, `prioritize`, `pause` and `resume`."""

import json

import pytest

from tests.cli.conftest import Call
from windlass import Windlass
from windlass.core.stats import FINE, summed


@pytest.fixture
def filled(app: Windlass) -> Windlass:
    @app.task(queue="mail")
    def send() -> None: ...

    app.enqueue_many(send.using(id=id).call() for id in ("a", "b", "c"))
    send.using(id="later", delay=3600).enqueue()
    app.close()
    return app


def field(call: Call, id: str, name: str) -> object:
    return json.loads(call("job", id, "--json").stdout)[name]


@pytest.mark.usefixtures("filled")
def test_jobs_are_cancelled_once(call: Call) -> None:
    result = call("cancel", "a", "later")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "Cancelled 2 jobs.\n", "")
    assert [field(call, id, "state") for id in ("a", "b", "later")] == [
        "cancelled",
        "pending",
        "cancelled",
    ]
    result = call("cancel", "a")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == "windlass: Job a cannot be cancelled: it is cancelled.\n"


def test_what_was_cancelled_is_in_the_statistics(call: Call, filled: Windlass) -> None:
    call("cancel", "a", "later", "nobody")
    call("cancel", "a", "b")
    points = filled.client.block(lambda store: store.stats(["mail"], FINE, 0), "", "")
    assert summed(points) == {"cancelled": 3}
    filled.close()


@pytest.mark.usefixtures("filled")
def test_what_was_cancelled_and_what_not_as_json(call: Call) -> None:
    result = call("cancel", "b", "nobody", "b", "--json")
    assert (result.exit_code, result.stderr) == (3, "")
    assert json.loads(result.stdout) == {
        "count": 1,
        "ids": ["b"],
        "refused": {"nobody": "There is no job nobody."},
    }


@pytest.mark.usefixtures("filled")
def test_a_pending_job_gets_a_time_and_a_scheduled_one_another(call: Call) -> None:
    result = call("reschedule", "a", "later", "--at", "2030-01-31T09:00+01:00")
    assert (result.exit_code, result.stdout) == (0, "Rescheduled 2 jobs.\n")
    for id in ("a", "later"):
        assert field(call, id, "due_at") == "2030-01-31T08:00:00.000Z"
        assert field(call, id, "state") == "scheduled"


@pytest.mark.usefixtures("filled")
def test_a_job_can_be_delayed_and_be_told_to_run_now(call: Call) -> None:
    assert call("reschedule", "a", "--delay", "2h").exit_code == 0
    assert call("jobs", "-s", "scheduled").stdout.rstrip().endswith("in 1 h")
    assert call("reschedule", "later", "--delay", "0").exit_code == 0
    assert field(call, "later", "state") == "pending"


@pytest.mark.usefixtures("filled")
def test_a_finished_job_cannot_be_rescheduled(call: Call) -> None:
    call("cancel", "a")
    result = call("reschedule", "a", "b", "--delay", "1d")
    assert (result.exit_code, result.stdout) == (3, "Rescheduled 1 job.\n")
    assert result.stderr == "windlass: Job a cannot be rescheduled: it is cancelled.\n"


@pytest.mark.parametrize("delay", ["-1", "inf", "200y", "101000d"])
def test_a_delay_that_cannot_be_is_refused(call: Call, delay: str) -> None:
    result = call("reschedule", "a", "--delay", delay)
    assert result.exit_code == (2 if delay == "200y" else 1)
    assert "delay" in result.stderr


@pytest.mark.usefixtures("filled")
def test_a_queue_is_paused_and_resumed(call: Call) -> None:
    result = call("pause", "mail")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "Paused mail.\n", "")
    assert "paused" in call("queues").stdout
    result = call("resume", "mail")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "Resumed mail.\n", "")
    assert "paused" not in call("queues").stdout


@pytest.mark.usefixtures("filled")
def test_what_was_so_before_is_told_and_is_no_error(call: Call) -> None:
    result = call("resume", "mail")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "windlass: The queue mail was not paused.\n"
    call("pause", "mail")
    result = call("pause", "mail")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "windlass: The queue mail was paused already.\n"


def test_a_queue_is_paused_before_its_first_job(call: Call) -> None:
    """Of a SQLite store, too, whose file is not there yet."""
    assert call("resume", "mail").exit_code == 1
    result = call("pause", "mail")
    assert (result.exit_code, result.stdout) == (0, "Paused mail.\n")
    assert "paused" in call("queues").stdout


@pytest.mark.usefixtures("filled")
def test_a_queue_without_jobs_is_paused_with_a_word_of_doubt(call: Call) -> None:
    result = call("pause", "mial", "mail")
    assert (result.exit_code, result.stdout) == (0, "Paused mial.\nPaused mail.\n")
    assert result.stderr == (
        "windlass: The queue mial has no jobs yet; it is paused from its first one on.\n"
    )


@pytest.mark.usefixtures("filled")
def test_several_queues_as_json(call: Call) -> None:
    call("pause", "mail")
    result = call("pause", "mail", "other", "mail", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == [
        {"name": "mail", "paused": True, "changed": False},
        {"name": "other", "paused": True, "changed": True},
    ]
    (_, other) = json.loads(call("resume", "nobodys", "other", "--json").stdout)
    assert other == {"name": "other", "paused": False, "changed": True}


@pytest.mark.usefixtures("filled")
def test_jobs_that_wait_get_another_priority(call: Call) -> None:
    result = call("prioritize", "b", "later", "high")
    assert (result.exit_code, result.stdout) == (0, "Prioritized 2 jobs.\n")
    assert [field(call, id, "priority") for id in ("a", "b", "later")] == [50, 75, 75]
    call("cancel", "c")
    result = call("prioritize", "a", "c", "nobody", "3")
    assert (result.exit_code, result.stdout) == (3, "Prioritized 1 job.\n")
    assert result.stderr.splitlines() == [
        "windlass: Job c cannot be prioritized: it is cancelled.",
        "windlass: There is no job nobody.",
    ]
    assert field(call, "a", "priority") == 3


@pytest.mark.parametrize("priority", ["101", "-1", "urgent"])
def test_a_priority_that_no_job_can_have_is_refused(call: Call, priority: str) -> None:
    result = call("prioritize", "--", "a", priority)
    assert result.exit_code == 1
    assert "priority is a whole number from 0 to 100" in result.stderr
