"""`windlass enqueue`: words of a shell become the arguments and options of a job."""

import json
from datetime import date

import pytest

from tests.cli.conftest import Call
from tests.cli.program import Program
from windlass.cli.values import fitted, keyword, understood
from windlass.core.arguments import Arguments
from windlass.errors import InvalidArguments


def stored(call: Call, *words: str) -> dict[str, object]:
    """The job that a command stored, as the program tells it."""
    result = call("enqueue", *words)
    assert result.exit_code == 0, result.stderr
    fields: dict[str, object] = json.loads(call("job", result.stdout.strip(), "--json").stdout)
    return fields


def test_without_an_app_any_name_and_any_arguments_are_taken(call: Call) -> None:
    job = stored(call, "anything", "42", "true", '{"a": [1]}', "hello", "NaN", "-k", "n=1.5")
    assert job["task"] == "anything"
    assert job["args"] == [42, True, {"a": [1]}, "hello", "NaN"]
    assert job["kwargs"] == {"n": 1.5}
    assert job["state"] == "pending"


def test_an_argument_by_itself_wins_over_the_same_in_the_object(call: Call) -> None:
    job = stored(call, "t", "--kwargs", '{"a": 1, "b": 2}', "-k", "b=three", "-k", "c==")
    assert job["kwargs"] == {"a": 1, "b": "three", "c": "="}


def test_an_argument_with_a_dash_comes_after_two(call: Call) -> None:
    assert stored(call, "t", "--", "-5", "--flag")["args"] == [-5, "--flag"]


def test_every_option_reaches_the_job(call: Call) -> None:
    words = ("--queue", "mail", "--priority", "high", "--at", "2030-01-31T09:00+01:00")
    more = ("--unique", "key", "--id", "mine", "--max-retries", "7", "--timeout", "1.5")
    job = stored(call, "t", *words, *more)
    assert {name: job[name] for name in ("id", "queue", "priority", "due_at")} == {
        "id": "mine",
        "queue": "mail",
        "priority": 75,
        "due_at": "2030-01-31T08:00:00.000Z",
    }
    assert (job["unique"], job["max_retries"], job["timeout"]) == ("key", 7, 1.5)
    assert job["state"] == "scheduled"


def test_a_delayed_job_is_scheduled(call: Call) -> None:
    assert stored(call, "t", "--delay", "3600")["state"] == "scheduled"


def test_a_duplicate_is_told_apart_and_is_no_error(call: Call) -> None:
    first = call("enqueue", "t", "1", "--unique", "key")
    again = call("enqueue", "t", "2", "--unique", "key")
    assert (again.exit_code, again.stdout) == (0, first.stdout)
    assert again.stderr == "windlass: This job was there before; no new one was stored.\n"


def test_a_key_can_be_held_for_another_time(call: Call) -> None:
    words = ("--unique", "key", "--unique-for", "started", "--on-conflict", "reject")
    first = call("enqueue", "t", "1", *words)
    assert call("enqueue", "t", "2", *words).stdout == first.stdout


def test_json_has_the_id_the_task_and_whether_it_is_a_duplicate(call: Call) -> None:
    for duplicate in (False, True):
        result = call("enqueue", "t", "--id", "one", "--json")
        assert json.loads(result.stdout) == {"id": "one", "task": "t", "duplicate": duplicate}
        assert result.stderr == ""


def test_the_options_of_the_apps_task_hold_and_are_overridden(program: Program) -> None:
    id = program.enqueue("add", "1")
    job = program.job(id)
    assert (job["queue"], job["priority"], job["max_retries"]) == ("sums", 80, 1)
    job = program.job(program.enqueue("add", "1", "-k", "b=5", "-q", "mail"))
    assert (job["queue"], job["priority"], job["kwargs"]) == ("mail", 80, {"b": 5})


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["subtract", "1"],
            "No task named subtract is registered in this app: known are add, ",
        ),
        (["add"], "add() missing a required argument: 'a'; it takes (a: int, b: int = 2)."),
        (["add", "1", "2", "3"], "too many positional arguments; it takes (a: int, b: int = 2)."),
        (["add", "1", "-k", "c=3"], "got an unexpected keyword argument 'c'; it takes"),
        (["add", "one"], "add() argument 'a': Expected `int`, got `str`."),
    ],
)
def test_what_does_not_fit_the_apps_task_is_refused(
    program: Program, words: list[str], sentence: str
) -> None:
    done = program("enqueue", "-A", "shop:app", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("windlass: ")
    assert sentence in done.stderr
    assert not (program.folder / "jobs.db").exists()


def order(name: str, day: date, *tags: str, size: int | str = 1, rest: bool = False) -> None:
    """A task's function."""


def fit(*words: str, **named: str) -> tuple[list[object], dict[str, object]]:
    keywords = dict(keyword(f"{name}={text}") for name, text in named.items())
    return fitted(Arguments.of(order), [understood(word) for word in words], keywords)


def test_a_word_is_text_where_the_parameter_asks_for_text() -> None:
    assert fit("42", "2030-01-31", "7", "null") == (["42", date(2030, 1, 31), "7", "null"], {})


def test_a_word_is_json_where_that_fits() -> None:
    _, named = fit("x", "2030-01-31", size="42", rest="true")
    assert named == {"size": 42, "rest": True}


def test_a_value_of_an_object_stays_what_it_is_there() -> None:
    args = [understood("x"), understood("2030-01-31")]
    with pytest.raises(InvalidArguments, match="argument 'rest': Expected `bool`, got `str`"):
        fitted(Arguments.of(order), args, dict([keyword('rest="true"')]))


@pytest.mark.parametrize("words", [("x", "someday"), ("x", "5")])
def test_a_word_that_fits_in_neither_way_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(InvalidArguments, match="argument 'day'"):
        fit(*words)
