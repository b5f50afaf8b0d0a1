"""Options as values: what is filled in, what wins, and what a job is made of."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.model import DAY_MS, NewJob, Spec
from windlass.core.name import checked_name
from windlass.core.options import CHECKS, JobOptions, Options
from windlass.errors import InvalidOption

NAMES = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=128)


def test_every_option_that_users_can_write_is_checked_and_kept() -> None:
    assert JobOptions.__annotations__.keys() == CHECKS.keys()
    assert set(Options.__struct_fields__) - {"keyed", "batch"} == CHECKS.keys()


def test_the_defaults_are_those_of_the_docs() -> None:
    options = Options()
    assert (options.queue, options.priority, options.max_retries) == ("default", 50, 3)
    assert (options.timeout, options.keep, options.delay) == (None, DAY_MS, 0)


def test_given_options_go_on_top_and_the_others_stay() -> None:
    task = Options().merged({"queue": "mail", "priority": 10})
    job = task.merged({"priority": "high", "delay": 1.5})
    assert (task.queue, task.priority, task.delay) == ("mail", 10, 0)
    assert (job.queue, job.priority, job.delay) == ("mail", 75, 1_500)


@pytest.mark.parametrize(("word", "number"), [("low", 25), ("default", 50), ("high", 75)])
def test_a_priority_may_be_a_word(word: str, number: int) -> None:
    assert Options().merged({"priority": word}).priority == number


@given(priority=st.integers())
def test_a_priority_is_from_0_to_100(priority: int) -> None:
    if 0 <= priority <= 100:
        assert Options().merged({"priority": priority}).priority == priority
    else:
        with pytest.raises(InvalidOption, match="from 0 to 100"):
            Options().merged({"priority": priority})


@pytest.mark.parametrize("option", ["delay", "timeout", "keep"])
@pytest.mark.parametrize(("value", "ms"), [(2, 2_000), (0.0001, 1), (timedelta(minutes=1), 60_000)])
def test_a_duration_is_seconds_or_a_timedelta(option: str, value: Any, ms: int) -> None:
    assert getattr(Options().merged({option: value}), option) == ms


@pytest.mark.parametrize("option", ["delay", "timeout", "keep"])
@pytest.mark.parametrize("value", [-1, float("inf"), float("nan"), timedelta(seconds=-1), 4e9, []])
def test_a_duration_that_cannot_be_is_refused(option: str, value: Any) -> None:
    with pytest.raises(InvalidOption, match=option):
        Options().merged({option: value})


def test_no_timeout_can_be_asked_for_and_a_timeout_of_nothing_cannot() -> None:
    timed = Options().merged({"timeout": 5})
    assert timed.merged({"timeout": None}).timeout is None
    with pytest.raises(InvalidOption, match="above 0, or None for no limit"):
        timed.merged({"timeout": 0})


def test_a_job_that_is_not_to_be_kept_is_kept_for_nothing() -> None:
    assert Options().merged({"keep": 0}).keep == 0


def test_a_moment_may_lie_in_the_past() -> None:
    moment = datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)
    assert Options().merged({"at": moment}).at == 1_000_000_000_000


def test_one_call_gives_a_delay_or_a_moment_not_both() -> None:
    with pytest.raises(InvalidOption, match="Give delay or at, not both"):
        Options().merged({"delay": 1, "at": datetime.now(UTC)})


@pytest.mark.parametrize("later", [{"at": datetime(2030, 1, 1, tzinfo=UTC)}, {"delay": 5}])
def test_the_later_of_delay_and_moment_wins_when_using_is_called_twice(
    later: dict[str, Any],
) -> None:
    """`send.using(delay=60).using(at=…)`: a job has one time at which it is due."""
    first = {"delay": 60} if "at" in later else {"at": datetime(2040, 1, 1, tzinfo=UTC)}
    expected = Options().merged(later)
    options = Options().merged(first).merged(later)
    assert (options.delay, options.at) == (expected.delay, expected.at)


@given(name=NAMES)
def test_any_printable_name_will_do(name: str) -> None:
    assert checked_name(name, "name of a queue") == name


@pytest.mark.parametrize("name", ["", "q" * 129, None, 7, " q", "q ", "a\tb", "a\0b"])
def test_a_name_that_cannot_be_is_refused_with_what_it_was_for(name: Any) -> None:
    with pytest.raises(InvalidOption, match="The name of a task"):
        checked_name(name, "name of a task")


def test_labels_are_copied_and_none_at_all_is_nothing() -> None:
    labels = {"tenant": "a"}
    options = Options().merged({"labels": labels})
    labels["tenant"] = "b"
    assert options.labels == {"tenant": "a"}
    assert Options().merged({"labels": {}}).labels is None


@pytest.mark.parametrize("labels", [{"half": "\ud800"}, {"\ud800": "half"}])
def test_labels_that_utf8_cannot_hold_are_refused(labels: dict[str, str]) -> None:
    with pytest.raises(InvalidOption, match="labels are texts that UTF-8 can hold"):
        Options().merged({"labels": labels})


def test_a_job_is_made_of_its_options() -> None:
    options = Options().merged(
        {"queue": "mail", "priority": 9, "max_retries": 1, "timeout": 2, "keep": 3, "id": "mine"}
        | {"delay": 4, "labels": {"a": "b"}}
        | {"unique": "u", "unique_for": 5, "on_conflict": "last"}
    )
    assert options.new_job("send", b"x", "json") == NewJob(
        "mine",
        Spec("send", b"x", "json", 1, 2_000, 3_000, {"a": "b"}, unique_for=5_000),
        queue="mail",
        priority=9,
        delay=4_000,
        unique="u",
        conflict="last",
    )


def test_two_jobs_of_the_same_options_are_two_jobs() -> None:
    options = Options()
    assert options.new_job("t", b"", "msgpack").id != options.new_job("t", b"", "msgpack").id


def test_an_id_is_fresh_only_if_it_was_made_for_the_job() -> None:
    assert Options().new_job("t", b"", "msgpack").fresh
    assert not Options().merged({"id": "mine"}).new_job("t", b"", "msgpack").fresh
