"""`windlass dead`: list, replay, delete and purge what failed for good."""

import json
from typing import Any

import pytest
from click.testing import Result

from tests.cli.conftest import Call
from windlass import Windlass
from windlass.core.model import Failure, Spec
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.testing.jobs import claim, finish, put

ERROR = Failure("ValueError", "two\nlines \x1b[31m", "Traceback …")


def died(app: Windlass, id: str, task: str = "send", queue: str = "mail", **options: Any) -> None:
    """Store a job that is dead."""

    async def kill(store: Store) -> None:
        await put(store, id, spec=Spec(task, b"\x92\x90\x80"), queue=queue, **options)
        (job,) = await claim(store, queue=queue)
        assert await finish(store, job, State.DEAD, error=ERROR)

    app.client.block(kill, "", "")


def states(call: Call) -> dict[str, str]:
    """Every job with its state."""
    listed = json.loads(call("jobs", "--json").stdout)
    return {job["id"]: job["state"] for job in listed}


@pytest.fixture
def filled(app: Windlass) -> Windlass:
    """Three dead jobs, a cancelled and a pending one."""
    died(app, "a")
    died(app, "b", task="sweep")
    died(app, "c", queue="other")

    @app.task(queue="idle")
    def wait() -> None: ...

    wait.using(id="off").enqueue().cancel()
    wait.using(id="ready").enqueue()
    app.close()
    return app


def ended(result: Result, code: int, stdout: str, stderr: str = "") -> None:
    assert (result.stdout, result.stderr, result.exit_code) == (stdout, stderr, code)


@pytest.mark.usefixtures("filled")
def test_the_list_has_the_error_on_one_line(call: Call) -> None:
    head, *rows = call("dead", "list", "--queue", "mail").stdout.splitlines()
    assert head.split() == ["id", "task", "queue", "runs", "died", "error"]
    assert sorted(row.split()[0] for row in rows) == ["a", "b"]
    assert all(row.rstrip().endswith(r"ValueError: two lines \x1b[31m") for row in rows)


@pytest.mark.usefixtures("filled")
def test_the_list_can_be_filtered_and_paged_and_has_the_records_of_jobs(call: Call) -> None:
    listed = json.loads(call("dead", "list", "--task", "sweep", "--json").stdout)
    assert listed == json.loads(call("jobs", "-t", "sweep", "--json").stdout)
    assert [job["id"] for job in listed] == ["b"]
    first = call("dead", "list", "-n", "2", "--json")
    cursor = first.stderr.split("--cursor ")[1].strip()
    rest = call("dead", "list", "--cursor", cursor, "--json")
    ids = [job["id"] for page in (first, rest) for job in json.loads(page.stdout)]
    assert sorted(ids) == ["a", "b", "c"]
    assert rest.stderr == ""


def test_an_empty_list_is_no_error(call: Call, url: str) -> None:
    call("migrate")
    ended(call("dead", "list"), 0, f"There are no such dead jobs in {url}.\n")
    ended(call("dead", "list", "--json"), 0, "[]\n")


@pytest.mark.usefixtures("filled")
def test_ids_are_replayed_and_a_cancelled_job_too(call: Call) -> None:
    ended(call("dead", "replay", "a", "off"), 0, "Replayed 2 jobs.\n")
    assert states(call) == {
        "a": "pending",
        "b": "dead",
        "c": "dead",
        "off": "pending",
        "ready": "pending",
    }
    assert json.loads(call("job", "a", "--json").stdout)["attempt"] == 0


@pytest.mark.usefixtures("filled")
def test_ids_that_cannot_be_replayed_are_told_and_make_it_3(call: Call) -> None:
    ended(
        call("dead", "replay", "ready", "a", "nobody"),
        3,
        "Replayed 1 job.\n",
        "windlass: Job ready cannot be replayed: it is pending.\n"
        "windlass: There is no job nobody.\n",
    )
    result = call("dead", "replay", "a", "b", "--json")
    assert (result.exit_code, result.stderr) == (3, "")
    assert json.loads(result.stdout) == {
        "count": 1,
        "ids": ["b"],
        "refused": {"a": "Job a cannot be replayed: it is pending."},
    }


@pytest.mark.usefixtures("filled")
def test_all_that_match_are_replayed(call: Call) -> None:
    ended(call("dead", "replay", "--all", "--queue", "mail", "-t", "send"), 0, "Replayed 1 job.\n")
    assert [id for id, state in states(call).items() if state == "dead"] == ["c", "b"]
    result = call("dead", "replay", "--all", "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (0, {"count": 2, "left": 0})
    assert states(call)["off"] == "cancelled"


def test_a_job_whose_unique_key_is_taken_is_left(call: Call, app: Windlass) -> None:
    died(app, "old", unique="k")
    died(app, "free")
    app.client.block(lambda store: put(store, "new", unique="k"), "", "")
    app.close()
    result = call("dead", "replay", "--all")
    assert (result.exit_code, result.stdout) == (3, "Replayed 1 job.\n")
    assert result.stderr.startswith("windlass: 1 job could not be replayed: ")
    assert states(call) == {"new": "pending", "free": "pending", "old": "dead"}


@pytest.mark.usefixtures("filled")
def test_only_dead_jobs_are_deleted_by_id(call: Call) -> None:
    ended(
        call("dead", "delete", "a", "ready", "off"),
        3,
        "Deleted 1 job.\n",
        "windlass: Job ready cannot be deleted: it is pending.\n"
        "windlass: Job off cannot be deleted: it is cancelled.\n",
    )
    assert states(call).keys() == {"b", "c", "off", "ready"}


@pytest.mark.usefixtures("filled")
def test_deleting_all_needs_a_yes_where_nobody_can_be_asked(call: Call) -> None:
    for words in (("delete", "--all"), ("purge",)):
        result = call("dead", *words)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.endswith("There is no terminal to ask on: add --yes to go on.\n")
    assert len(states(call)) == 5
    ended(call("dead", "delete", "--all", "-q", "other", "--yes"), 0, "Deleted 1 job.\n")
    ended(call("dead", "purge", "-y"), 0, "Deleted 2 jobs.\n")
    assert states(call).keys() == {"off", "ready"}


@pytest.mark.usefixtures("filled")
def test_only_jobs_that_died_long_enough_ago_are_purged(call: Call) -> None:
    result = call("dead", "purge", "--older-than", "7d", "--yes")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == (
        "windlass: Nothing was deleted: there are no dead jobs that died 7 d ago or before.\n"
    )
    assert len(states(call)) == 5


def test_old_ones_are_purged_and_young_ones_stay(call: Call, url: str) -> None:
    app = Windlass(url, clock=lambda: 1_750_000_000_000)
    died(app, "old")
    app.close()
    app = Windlass(url)
    died(app, "young")
    app.close()
    ended(call("dead", "purge", "--older-than", "1h", "-y"), 0, "Deleted 1 job.\n")
    assert states(call) == {"young": "dead"}


@pytest.mark.parametrize("words", [["replay", "--all"], ["delete", "--all"], ["purge"]])
def test_nothing_that_matches_is_3_without_a_question(call: Call, words: list[str]) -> None:
    call("migrate")
    result = call("dead", *words)
    assert (result.exit_code, result.stdout) == (3, "")
    done = "replayed" if words[0] == "replay" else "deleted"
    assert result.stderr == f"windlass: Nothing was {done}: there are no dead jobs.\n"
    result = call("dead", *words, "--json", "--task", "t")
    assert (result.exit_code, json.loads(result.stdout)) == (3, {"count": 0, "left": 0})


def test_an_age_that_cannot_be_is_refused(call: Call) -> None:
    result = call("dead", "purge", "--older-than", "inf", "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--older-than must be a finite number of seconds" in result.stderr


def test_alone_it_shows_its_commands(call: Call) -> None:
    result = call("dead")
    assert result.exit_code == 2
    for name in ("list", "replay", "delete", "purge"):
        assert f"\n  {name} " in result.stderr
        assert call("dead", name, "--help").stdout.startswith(f"Usage: windlass dead {name} ")
