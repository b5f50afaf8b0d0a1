"""Which errors deserve another attempt: `retry_on`, `fatal_on`, and what handlers raise."""

import asyncio

import pytest

from windlass.core.retry import RetryPolicy
from windlass.errors import Fatal, Retry


class Root(Exception):
    pass


class Child(Root):
    pass


class Grandchild(Child):
    pass


class Stranger(Exception):
    pass


@pytest.mark.parametrize("error", [Root(), ValueError(), OSError(), TimeoutError(), Retry()])
def test_by_default_every_exception_deserves_another_attempt(error: Exception) -> None:
    assert not RetryPolicy().is_fatal(error)


@pytest.mark.parametrize("error", [Fatal(), Fatal("no")])
def test_fatal_is_fatal_whatever_the_rules_say(error: Fatal) -> None:
    assert RetryPolicy().is_fatal(error)
    assert RetryPolicy(retry_on=(Fatal, Exception)).is_fatal(error)


def test_a_subclass_of_fatal_is_fatal_too() -> None:
    class Hopeless(Fatal):
        pass

    assert RetryPolicy(retry_on=(Hopeless,)).is_fatal(Hopeless())


@pytest.mark.parametrize(
    "error", [SystemExit(1), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError()]
)
def test_what_is_no_exception_is_retried_unless_the_rules_leave_it_out(
    error: BaseException,
) -> None:
    assert not RetryPolicy().is_fatal(error)
    assert not RetryPolicy(retry_on=(type(error),)).is_fatal(error)
    assert RetryPolicy(retry_on=(Exception,)).is_fatal(error)
    assert RetryPolicy(fatal_on=(type(error),)).is_fatal(error)


@pytest.mark.parametrize(
    ("retry_on", "fatal_on", "retried"),
    [
        pytest.param((Root,), (), {Root, Child, Grandchild}, id="a class takes its subclasses"),
        pytest.param((Child,), (), {Child, Grandchild}, id="a class does not take its parents"),
        pytest.param((), (), set(), id="nothing to retry on"),
        pytest.param((Exception,), (Child,), {Root, Stranger}, id="fatal takes subclasses"),
        pytest.param((Root,), (Root,), set(), id="both match: fatal wins"),
        pytest.param((Child,), (Root,), set(), id="fatal wins over a nearer class"),
        pytest.param((Root,), (Grandchild,), {Root, Child}, id="fatal cuts a branch off"),
        pytest.param((Child, Stranger), (), {Child, Grandchild, Stranger}, id="several"),
        pytest.param((Exception,), (Child, Stranger), {Root}, id="several fatal ones"),
    ],
)
def test_the_rules_decide_by_class(
    retry_on: tuple[type[Exception], ...],
    fatal_on: tuple[type[Exception], ...],
    retried: set[type[Exception]],
) -> None:
    policy = RetryPolicy(retry_on=retry_on, fatal_on=fatal_on)
    kinds = (Root, Child, Grandchild, Stranger)
    assert {kind for kind in kinds if not policy.is_fatal(kind())} == retried


def test_a_handler_that_asks_for_a_retry_gets_one_whatever_retry_on_lists() -> None:
    """`raise Retry(after=…)` is the handler's own word; `retry_on` is about errors."""
    assert not RetryPolicy(retry_on=(ConnectionError,)).is_fatal(Retry(after=3))


def test_the_cause_of_an_error_does_not_decide() -> None:
    policy = RetryPolicy(retry_on=(Root,), fatal_on=(Stranger,))
    error = Root()
    error.__cause__ = Stranger()
    assert not policy.is_fatal(error)
