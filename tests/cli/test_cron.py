"""`windlass cron`: schedules from the shell."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.conftest import Call
from windlass import Windlass

CODE = """
from windlass import Windlass

app = Windlass()

@app.cron("@hourly")
def tidy(days: int = 7) -> None: ...

@app.task(queue="mail")
def send(to: str, *, loud: bool = False) -> None: ...
"""


@pytest.fixture(autouse=True)
def shop(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "cronshop.py").write_text(CODE)
    yield
    # The next test has a module of this name in another folder.
    sys.modules.pop("cronshop", None)


def said(result: Result, code: int = 0) -> str:
    assert result.exit_code == code, result.output
    return result.output


def listed(call: Call, *words: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(said(call("cron", "list", "--json", *words)))
    return found


def add(call: Call, name: str = "night", *words: str) -> str:
    return said(call("cron", "add", name, "0 3 * * *", "send", "ada", *words))


def test_a_schedule_is_added_and_listed(call: Call) -> None:
    told = add(
        call, "night", "-A", "cronshop:app", "--timezone", "Europe/Berlin", "-k", "loud=true"
    )
    assert told.startswith("Added night; it runs next at 20")
    (schedule,) = listed(call)
    assert schedule["name"] == "night"
    assert (schedule["task"], schedule["queue"]) == ("send", "mail")
    assert (schedule["timezone"], schedule["paused"]) == ("Europe/Berlin", False)
    table = said(call("cron", "list"))
    assert "night" in table and "0 3 * * *" in table and "Europe/Berlin" in table


def test_without_an_app_any_task_is_taken(call: Call) -> None:
    add(call, "night", "--missed", "all", "--overlap", "skip", "--max-retries", "0")
    (schedule,) = listed(call)
    assert (schedule["missed"], schedule["overlap"]) == ("all", "skip")


def test_no_schedules_are_said(call: Call, app: Windlass) -> None:
    app.client.block(lambda store: store.ping(), "x", "y")
    assert said(call("cron", "list")).startswith("There are no schedules in sqlite:")


def test_a_change_leaves_the_rest(call: Call) -> None:
    add(call, "night", "--missed", "last")
    assert said(call("cron", "change", "night", "--schedule", "@daily")).startswith("Changed night")
    (schedule,) = listed(call)
    assert (schedule["text"], schedule["missed"]) == ("@daily", "last")
    assert "Say what to change" in said(call("cron", "change", "night"), 2)


def test_pause_resume_and_remove(call: Call) -> None:
    add(call, "a")
    add(call, "b")
    assert said(call("cron", "pause", "a", "b")) == "Paused a, b.\n"
    assert [schedule["paused"] for schedule in listed(call)] == [True, True]
    assert said(call("cron", "list")).count("paused") == 2
    assert said(call("cron", "resume", "a")) == "Resumed a.\n"
    assert said(call("cron", "remove", "a", "b")) == "Removed a, b.\n"
    assert listed(call) == []


def test_a_trigger_prints_the_id_of_the_job(call: Call) -> None:
    add(call)
    id = said(call("cron", "trigger", "night")).strip()
    assert json.loads(said(call("job", id, "--json")))["task"] == "send"
    assert "id" in json.loads(said(call("cron", "trigger", "night", "--json")))


def test_what_code_declares_is_marked(call: Call) -> None:
    add(call, "tidy")
    add(call, "other")
    declared = {each["name"]: each["declared"] for each in listed(call, "-A", "cronshop:app")}
    assert declared == {"tidy": True, "other": False}


@pytest.mark.parametrize("command", ["pause", "resume", "remove", "trigger"])
def test_an_unknown_schedule_is_exit_code_3(call: Call, app: Windlass, command: str) -> None:
    app.client.block(lambda store: store.ping(), "x", "y")
    told = said(call("cron", command, "nobody"), 3)
    assert told == "windlass: There is no schedule nobody in the store.\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("bad", "* *", "send"), "'* *' is no cron expression"),
        (("bad", "@daily", "send", "--timezone", "Mars/Base"), "There is no time zone 'Mars/Base'"),
        (("", "@daily", "send"), "The name of a schedule is a text of 1 to 100 characters"),
    ],
)
def test_what_cannot_be_is_one_sentence(call: Call, words: tuple[str, ...], told: str) -> None:
    assert f"windlass: {told}" in said(call("cron", "add", *words), 1)


def test_a_name_that_is_taken_is_refused(call: Call) -> None:
    add(call)
    told = said(call("cron", "add", "night", "@daily", "send"), 1)
    assert told == "windlass: There is a schedule night already; change it, or remove it first.\n"
