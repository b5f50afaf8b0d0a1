"""`windlass history`: what workers have written is found by what is asked for."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.conftest import Call
from tests.cli.program import Program, read_until
from tests.history.engines import line
from windlass import Fatal, Windlass
from windlass.config import WorkerSettings
from windlass.history.find import WINDOW
from windlass.history.open import open_archive
from windlass.testing.work import work


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path}/history.db"
    monkeypatch.setenv("WINDLASS_HISTORY", url)
    return url


@pytest.fixture
def filled(url: str, place: str) -> Windlass:
    """Three jobs that are over: one done, one dead, one cancelled."""
    app = Windlass(url, history=place)

    @app.task
    async def add(a: int, b: int) -> int:
        return a + b

    @app.task(queue="risky", max_retries=1, backoff=0)
    async def refuse() -> None:
        raise Fatal("not today")

    add.using(id="sum", labels={"tenant": "a"}).enqueue(1, 2)
    refuse.using(id="refused").enqueue()

    async def run() -> None:
        settings = WorkerSettings(queues=("*",))
        await work(app, settings)
        job = await add.using(id="off", delay=60).aenqueue(3, 4)
        await job.acancel()
        await work(app, settings)
        await app.aclose()

    asyncio.run(run())
    app.close()
    return app


def ids(result: Result) -> list[str]:
    assert result.exit_code == 0, result.stderr
    head, *rows = result.stdout.splitlines()
    assert head.split() == ["id", "state", "task", "queue", "runs", "took", "ended", "error"]
    return [row.split()[0] for row in rows]


@pytest.mark.usefixtures("filled")
def test_jobs_that_are_over_are_listed_with_the_last_first(call: Call) -> None:
    listed = ids(call("history", "list"))
    assert listed[0] == "off"
    assert sorted(listed) == ["off", "refused", "sum"]


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["-s", "dead"], ["refused"]),
        (["--state", "completed", "--state", "dead", "--task", "add"], ["sum"]),
        (["-q", "risky"], ["refused"]),
        (["--label", "tenant=a"], ["sum"]),
        (["--label", "tenant=b"], []),
        (["--error", "NOT today"], ["refused"]),
        (["--since", "1h", "-s", "dead"], ["refused"]),
        (["--until", "1h"], []),
        (["--longer", "1h"], []),
        (["--shorter", "0", "-s", "cancelled"], ["off"]),
        (["--sort", "created", "--ascending", "-n", "1", "-s", "cancelled"], ["off"]),
    ],
)
def test_they_can_be_searched(call: Call, words: list[str], found: list[str]) -> None:
    result = call("history", "list", *words)
    if found:
        assert ids(result) == found
    else:
        assert result.exit_code == 0
        assert "There are no such jobs in sqlite:///" in result.stdout


@pytest.mark.usefixtures("filled")
def test_a_moment_can_be_given_as_one(call: Call) -> None:
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    assert len(ids(call("history", "list", "--until", soon))) == 3
    result = call("history", "list", "--since", "yesterday")
    assert result.exit_code == 2
    assert "'yesterday' is not a moment" in result.stderr


@pytest.mark.usefixtures("filled")
def test_the_cursor_leads_from_page_to_page(call: Call) -> None:
    words, seen = ["history", "list", "--limit", "1"], []
    for _ in range(4):
        result = call(*words)
        seen += ids(result)
        if not result.stderr:
            break
        words = [*words[:4], "--cursor", result.stderr.split()[-1]]
    assert sorted(seen) == ["off", "refused", "sum"]
    assert call("history", "list", "--cursor", "nonsense").exit_code == 1


def test_a_listing_goes_on_where_a_page_found_nothing(call: Call, place: str) -> None:
    async def fill() -> None:
        archive = open_archive(place)
        await archive.open()
        await archive.keep([line(f"job-{n:05}", at=n) for n in range(WINDOW + 5)])
        await archive.keep([line("slow", at=-1, took=60_000)])
        await archive.close()

    asyncio.run(fill())
    assert ids(call("history", "list", "--longer", "1min")) == ["slow"]


@pytest.mark.usefixtures("filled")
def test_a_job_is_shown_with_its_attempts(call: Call) -> None:
    result = call("history", "show", "sum")
    assert result.exit_code == 0, result.stderr
    assert "call       add(1, 2)" in result.stdout
    assert "result     3" in result.stdout
    head, row = result.stdout.splitlines()[-2:]
    assert head.split() == ["run", "came", "to", "started", "took", "worker", "error"]
    assert row.split()[:2] == ["1", "completed"]


@pytest.mark.usefixtures("filled")
def test_json_is_for_programs(call: Call) -> None:
    [job] = json.loads(call("history", "list", "-s", "dead", "--json").stdout)
    assert (job["id"], job["error"]["message"]) == ("refused", "not today")
    shown = json.loads(call("history", "show", "refused", "--json").stdout)
    assert {name: shown[name] for name in job} == job
    [attempt] = shown["attempts"]
    assert attempt["error"]["kind"] == "Fatal"
    assert (attempt["number"], attempt["state"]) == (1, "dead")
    assert set(attempt) == {
        "number",
        "fence",
        "state",
        "started_at",
        "ended_at",
        "duration",
        "worker",
        "error",
    }


@pytest.mark.usefixtures("filled")
def test_an_unknown_job_is_told(call: Call) -> None:
    result = call("history", "show", "nobody")
    assert result.exit_code == 3
    assert "There is no job nobody in history" in result.stderr


def test_without_a_database_one_sentence_says_how_to_name_one(call: Call) -> None:
    for words in (["list"], ["show", "a"], ["migrate"]):
        result = call("history", *words)
        assert result.exit_code == 1
        assert "This app keeps no history; name a database for it" in result.stderr


def test_a_search_makes_no_file(call: Call, tmp_path: Path) -> None:
    result = call("history", "list", "--history", f"sqlite:///{tmp_path}/none.db")
    assert result.exit_code == 1
    assert "There is no SQLite file" in result.stderr
    assert not (tmp_path / "none.db").exists()


def test_a_place_that_cannot_be_is_refused(call: Call) -> None:
    result = call("history", "list", "--history", "redis://localhost")
    assert result.exit_code == 1
    assert "History is kept in an SQL database" in result.stderr


def test_the_schema_is_made_on_demand(call: Call, place: str) -> None:
    assert call("history", "migrate").stdout == "Applied 0001_history.\n"
    again = call("history", "migrate", "--history", place)
    assert again.stdout == f"The schema of {place} is up to date.\n"


def test_a_worker_writes_it_and_off_ends_that(program: Program) -> None:
    place = f"sqlite:///{program.folder}/history.db"
    environ = {"WINDLASS_HISTORY": place}
    id = program.enqueue("add", "1")
    with program.started("worker", "shop:app", "-Q", "*", environ=environ) as worker:
        read_until(worker, "started")
        while program.job(id)["state"] != "completed":
            pass
        worker.terminate()
        worker.wait()
    listed = program("history", "list", "--json", environ=environ)
    assert [job["id"] for job in json.loads(listed.stdout)] == [id], listed.stderr
    done = program("history", "off")
    assert done.stdout == f"{program.url} notes nothing any more.\n"
    dropped = program("history", "off", "--discard", "--yes")
    assert dropped.stdout.splitlines()[1] == "Dropped 0 notes."


def test_what_no_worker_has_handed_over_can_be_flushed(call: Call, url: str, place: str) -> None:
    app = Windlass(url)

    @app.task
    async def note() -> None: ...

    async def run() -> None:
        await (await app.client.store()).keep_journal(True)
        await note.using(id="a", keep=0).aenqueue()
        await work(app, WorkerSettings())
        await app.aclose()

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("WINDLASS_HISTORY")
        asyncio.run(run())
    assert call("history", "flush").stdout == "Wrote 1 notes.\n"
    assert call("history", "flush").stdout == "Wrote 0 notes.\n"
    assert ids(call("history", "list", "--history", place)) == ["a"]
