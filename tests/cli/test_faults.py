"""Bad input: one sentence on stderr, nothing on stdout, nothing written, no traceback."""

from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.conftest import Call
from windlass.cli.main import COMMANDS


def refused(result: Result, code: int = 1) -> str:
    """The sentence of a command that was carried out as far as it could be."""
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr.startswith("windlass: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("windlass: ").rstrip("\n")


def misused(result: Result) -> str:
    """The sentence of a command that was not written as it must be."""
    assert result.exit_code == 2
    assert result.stdout == ""
    usage, *_, last = result.stderr.splitlines()
    assert usage.startswith("Usage: windlass")
    return last.removeprefix("Error: ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["wroker"], "There is no command wroker: did you mean worker?"),
        (["xyzzy"], "There is no command xyzzy: known are worker, server, enqueue"),
        (["--verbose"], "No such option '--verbose'"),
        (["jobs", "--sate", "dead"], "No such option '--sate'. Did you mean '--state'?"),
        (["jobs", "--state", "lost"], "'lost' is not one of 'blocked', 'scheduled'"),
        (["jobs", "--limit", "0"], "0 is not in the range x>=1"),
        (["jobs", "--queue", ""], "The name is a text of 1 to 128 characters"),
        (["jobs", "--task", "\udcff"], "printable characters only"),
        (["jobs", "surplus"], "Got unexpected extra argument (surplus)"),
        (["job"], "Missing argument 'ID'"),
        (["why"], "Missing argument 'ID'"),
        (["why", "\udcff"], "A job id has printable characters only"),
        (["cancel"], "Missing argument 'ID...'"),
        (["cancel", "a", ""], "A job id is a text of 1 to 128 characters"),
        (["reschedule", "a"], "Give one of --delay and --at"),
        (["reschedule", "a", "--delay", "1", "--at", "2030-01-31T09:00Z"], "Give one of --delay"),
        (["dead", "lst"], "There is no command dead lst: did you mean list?"),
        (["dead", "replay"], "Give the ids of jobs, or --all"),
        (["dead", "delete", "a", "--all"], "Give the ids of jobs, or --all"),
        (["dead", "replay", "a", "b", "-q", "q"], "--fingerprint go with --all, not with ids"),
        (["dead", "purge", "--older-than", "long"], "'long' is not a duration as 90, 90s, 5min"),
        (["pause"], "Missing argument 'QUEUE...'"),
        (["resume", " q"], "no blanks at its ends"),
        (["purge"], "Missing argument 'QUEUE'"),
        (["purge", "q", "--state", "active"], "'active' is not one of 'blocked', 'scheduled'"),
        (["enqueue"], "Missing argument 'TASK'"),
        (["job", "\udcff"], "A job id has printable characters only"),
        (["enqueue", "t", "--delay", "soon"], "'soon' is not a duration as 90, 90s, 5min, 12h"),
        (["enqueue", "t", "--at", "noon"], "'noon' is not a moment as 2030-01-31T09:00Z is"),
        (["enqueue", "t", "--at", "2030-01-31T09:00"], "has no time zone; add Z or +01:00"),
        (["enqueue", "t", "-k", "width"], "'width' is not of the form NAME=VALUE"),
        (["enqueue", "t", "--kwargs", "[1]"], "--kwargs takes a JSON object"),
        (["worker"], "Name the app: windlass worker MODULE:APP"),
        (["worker", "shop:app", "-A", "shop:app"], "Name one app"),
        (["worker", "shop:"], "an app is named MODULE:APP, as in shop:app, not 'shop:'"),
        (["worker", ":app"], "an app is named MODULE:APP"),
        (["worker", "shop.py:app"], "'shop.py' is a file; name the module"),
        (["jobs", "-A", "a/shop:app"], "'a/shop' is a file; name the module"),
        (["worker", "shop:app", "--concurrency", "many"], "'many' is not a valid integer"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_that_is_not_written_right_exits_with_2(
    call: Call, tmp_path: Path, words: list[str], sentence: str
) -> None:
    assert sentence in misused(call(*words))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--delay", "-5"], "delay must be a finite number of seconds, 0 or more; got -5."),
        (["--delay", "nan"], "delay must be a finite number of seconds, 0 or more; got nan."),
        (["--delay", "1e300"], "delay is at most 100 years."),
        (["--priority", "101"], "priority is a whole number from 0 to 100, "),
        (["--priority", "-1"], "priority is a whole number from 0 to 100, "),
        (["--priority", "urgent"], "or low, default or high; got 'urgent'."),
        (["--max-retries", "-1"], "max_retries is a whole number, 0 or more; got -1."),
        (["--timeout", "0"], "timeout must be above 0"),
        (["--queue", ""], "The name of a queue is a text of 1 to 128 characters."),
        (["--queue", "q" * 129], "The name of a queue is a text of 1 to 128 characters."),
        (["--id", ""], "A job id is a text of 1 to 128 characters."),
        (["--unique", ""], "unique is a text of 1 to 255 characters."),
        (["--unique-for", "60"], "unique_for says something about unique, which is not given."),
        (["--unique", "k", "--unique-for", "0"], "unique_for must be above 0."),
        (["--unique", "k", "--unique-for", "ever"], "unique_for is finished, started, or a"),
        (["--unique", "k", "--on-conflict", "x"], "on_conflict is reject, replace, last or raise"),
        (["--delay", "1", "--at", "2030-01-31T09:00Z"], "Give delay or at, not both."),
        (["\udcff"], "positional argument 1: text with a lone surrogate"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "",
)
def test_a_job_that_cannot_be_is_refused_before_the_store_is_opened(
    call: Call, tmp_path: Path, words: list[str], sentence: str
) -> None:
    assert sentence in refused(call("enqueue", "task", *words))
    assert list(tmp_path.iterdir()) == []


def test_arguments_above_the_limit_are_refused(call: Call, tmp_path: Path) -> None:
    sentence = refused(call("enqueue", "task", "x" * (1024 * 1024)))
    assert "the limit is 1,048,576; store the data elsewhere and pass a reference" in sentence
    assert list(tmp_path.iterdir()) == []


ON_WHAT_IS_THERE = [
    ["jobs"],
    ["job", "j"],
    ["why", "j"],
    ["cancel", "j"],
    ["reschedule", "j", "--delay", "1"],
    ["prioritize", "j", "1"],
    ["signal", "j", "go"],
    ["dead", "list"],
    ["dead", "replay", "--all"],
    ["dead", "delete", "j"],
    ["dead", "purge", "--yes"],
    ["cron", "list"],
    ["cron", "change", "s", "--schedule", "@daily"],
    ["cron", "pause", "s"],
    ["cron", "resume", "s"],
    ["cron", "trigger", "s"],
    ["cron", "remove", "s"],
    ["queues"],
    ["resume", "q"],
    ["purge", "q", "--yes"],
    ["workers"],
    ["workers", "quiet", "w"],
    ["workers", "resume", "w"],
    ["workers", "stop", "w"],
    ["history", "off"],
    ["cron", "list"],
    ["keys", "list"],
    ["keys", "revoke", "k"],
    ["top", "--once"],
    ["doctor"],
]
"""Commands that a store makes sense to only if it is there."""
MAKING = {"worker", "server", "enqueue", "migrate", "demo", "pause"}
OF_OTHER_STORES = {"move", "verify"}
"""Tried without a file among their own tests."""
OF_NO_STORE = {"config"}


@pytest.mark.parametrize("words", ON_WHAT_IS_THERE, ids=" ".join)
def test_a_missing_sqlite_file_is_told_and_not_made(
    call: Call, tmp_path: Path, words: list[str]
) -> None:
    assert refused(call(*words)) == (
        f"There is no SQLite file {tmp_path}/jobs.db: check the URL; a worker or the first job "
        "makes the file."
    )
    assert list(tmp_path.iterdir()) == []


def test_every_command_either_makes_the_file_or_was_tried_without_one() -> None:
    tried = {words[0] for words in ON_WHAT_IS_THERE}
    assert tried == COMMANDS.keys() - MAKING - OF_OTHER_STORES - OF_NO_STORE


@pytest.mark.parametrize("words", [*ON_WHAT_IS_THERE, ["migrate"], ["enqueue", "t"]], ids=" ".join)
@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("sqlit:///jobs.db", "No store serves sqlit://: did you mean sqlite://?"),
        ("ftp://host", "No store serves ftp://: known are "),
        ("jobs.db", "'jobs.db' has no scheme"),
        ("sqlite://jobs.db", "A SQLite URL is sqlite:///file.db"),
        ("sqlite:///jobs.db?colour=red", "Unknown setting colour in a SQLite URL"),
        ("sqlite:///missing/folder/jobs.db", "/missing/folder/jobs.db: "),
        ("sqlite:///notes.txt", "/notes.txt: file is not a database"),
    ],
)
def test_a_store_that_cannot_be_opened(
    call: Call, tmp_path: Path, words: list[str], url: str, sentence: str
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("Milk, bread, and a new anchor. " * 100, "utf-8")
    before = notes.read_bytes()
    assert sentence in refused(call(*words, "--url", url))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    assert notes.read_bytes() == before


@pytest.mark.parametrize(
    ("url", "extra"),
    [("redis://localhost", "redis"), ("postgres://localhost/jobs", "postgres")],
)
def test_a_store_whose_driver_is_missing_names_the_extra(
    call: Call, monkeypatch: pytest.MonkeyPatch, url: str, extra: str
) -> None:
    monkeypatch.setattr("windlass.stores.open.find_spec", lambda driver: None)
    assert f"pip install 'windlass[{extra}]'" in refused(call("jobs", "--url", url))


def test_an_unknown_id(call: Call) -> None:
    call("migrate")
    assert refused(call("job", "nobody"), code=3) == (
        "There is no job nobody: it never was, was deleted, or was not kept."
    )


def test_a_cursor_that_no_listing_gave(call: Call) -> None:
    call("migrate")
    assert "This cursor is not one that a listing gave" in refused(call("jobs", "--cursor", "x"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--concurrency", "0"], "concurrency must be above 0."),
        (["--queues", "a,a"], "queues has 'a' twice; name it once."),
        (["--shutdown-timeout", "-1"], "shutdown_timeout must be 0 or more."),
    ],
)
def test_a_setting_that_cannot_be(call: Call, words: list[str], sentence: str) -> None:
    assert sentence in refused(call("worker", "shop:app", *words))


def test_an_unknown_setting_in_a_variable(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDLASS_WORKER_CONCURENCY", "4")
    assert "Unknown setting worker.concurency: did you mean concurrency?" in refused(
        call("worker", "shop:app")
    )


def test_a_settings_file_that_cannot_be_read(call: Call, tmp_path: Path) -> None:
    (tmp_path / "windlass.toml").write_text("[worker", "utf-8")
    assert "windlass.toml cannot be read" in refused(call("worker", "shop:app"))
