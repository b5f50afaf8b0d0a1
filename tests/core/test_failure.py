"""An exception as a record: enough to understand it, and never more than a store can take."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.model import Failure
from windlass.core.outcome import MAX_MESSAGE, MAX_TRACEBACK, failure_of


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def test_it_says_what_it_was_and_where_it_came_from() -> None:
    failure = failure_of(raised(KeyError("user 42")))
    assert (failure.kind, failure.message) == ("KeyError", "'user 42'")
    assert "in raised" in failure.traceback
    assert failure.traceback.endswith("KeyError: 'user 42'\n")


def test_the_cause_is_in_the_traceback() -> None:
    error = ValueError("outer")
    error.__cause__ = raised(OSError("inner"))
    text = failure_of(raised(error)).traceback
    assert "OSError: inner" in text
    assert "ValueError: outer" in text


def test_several_errors_at_once_are_all_told() -> None:
    failure = failure_of(raised(ExceptionGroup("two", [ValueError("one"), KeyError("other")])))
    assert failure.kind == "ExceptionGroup"
    assert "ValueError: one" in failure.traceback
    assert "KeyError: 'other'" in failure.traceback


def test_a_long_message_is_cut_at_its_end() -> None:
    failure = failure_of(raised(ValueError("a" * MAX_TRACEBACK + "end")))
    assert failure.message == "a" * MAX_MESSAGE


def test_of_a_long_traceback_both_ends_are_kept() -> None:
    error = ValueError("a" * MAX_TRACEBACK + "end")
    error.__cause__ = raised(OSError("the first cause"))
    text = failure_of(raised(error)).traceback
    assert MAX_TRACEBACK - 300 < len(text) <= MAX_TRACEBACK
    assert "OSError: the first cause" in text
    assert "characters left out" in text
    assert text.endswith("end\n")


def test_of_a_long_chain_the_first_cause_and_the_last_error_are_kept() -> None:
    error: BaseException = raised(OSError("the first cause"))
    for number in range(500):
        after = raised(ValueError(f"number {number}"))
        after.__context__ = error
        error = after
    lines = failure_of(error).traceback.splitlines()
    assert "OSError: the first cause" in lines
    assert lines[-1] == "ValueError: number 499"
    (gap,) = (line for line in lines if "characters left out" in line)
    assert gap.startswith("[…"), "it is cut between two lines"


def test_what_was_noted_with_an_error_is_in_the_traceback() -> None:
    error = ValueError("outer")
    error.add_note("while reading cat.jpg")
    assert "while reading cat.jpg" in failure_of(raised(error)).traceback


def test_an_error_that_cannot_be_shown_is_still_named() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text today")

    failure = failure_of(raised(Broken()))
    assert failure.kind == "Broken"
    assert failure.message == "(its text cannot be shown: RuntimeError)"


def test_nul_and_lone_surrogates_are_written_out() -> None:
    failure = failure_of(raised(ValueError("a\0b\udc80c")))
    assert failure.message == "a\\0b\\udc80c"


@given(text=st.text())
def test_every_text_can_be_stored_in_a_bounded_space(text: str) -> None:
    failure = failure_of(raised(ValueError(text)))
    assert "\0" not in failure.message + failure.traceback
    assert failure.message.encode("utf-8").decode("utf-8") == failure.message
    # Written out, one character takes at most ten.
    assert len(failure.message) <= 10 * MAX_MESSAGE
    assert len(failure.traceback) <= 10 * MAX_TRACEBACK


@pytest.mark.parametrize(
    ("failure", "text"),
    [(Failure("KeyError", "x"), "KeyError: x"), (Failure("Stop", ""), "Stop")],
)
def test_a_failure_reads_like_the_last_line_of_a_traceback(failure: Failure, text: str) -> None:
    assert str(failure) == text


def test_a_record_without_a_moment_can_be_read_and_one_with_it_by_who_does_not_know_it() -> None:
    class Before(msgspec.Struct):
        kind: str
        message: str
        traceback: str = ""

    old = msgspec.json.encode(Before("KeyError", "x"))
    assert msgspec.json.decode(old, type=Failure) == Failure("KeyError", "x", at=0)
    new = msgspec.json.encode(Failure("KeyError", "x", at=5))
    assert msgspec.json.decode(new, type=Before) == Before("KeyError", "x")
