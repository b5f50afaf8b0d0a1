"""Handlers that raise exceptions of classes which answer for themselves, and not as others do."""

from dataclasses import dataclass
from typing import Any, NoReturn

from tests.hostile.handlers.case import FAILS
from tests.hostile.handlers.ending import RAISES
from windlass import Retry

ROWS = RAISES
"""the table that has the rows below as well"""


@dataclass(frozen=True)
class Frozen(Exception):
    code: int


class Undecided(Exception):
    def __bool__(self) -> bool:
        raise ValueError("neither")


class OwnText(str):
    __slots__ = ()

    def __getitem__(self, key: Any) -> NoReturn:
        raise ValueError("no part of it")


class Wordy(Exception):
    def __str__(self) -> str:
        return OwnText("in words of its own")


def refuse(value: object) -> NoReturn:
    raise ValueError("nothing to be told")


Untraceable = type("Untraceable", (Exception,), {"__traceback__": property(refuse)})
Posing = type("Posing", (Exception,), {"__class__": property(lambda error: Retry)})
Nameless = type("Nameless", (type,), {"__name__": property(refuse)})
Anonymous = Nameless("Anonymous", (Exception,), {})


class Unsure(type):
    def __instancecheck__(cls, value: object) -> bool:
        raise ValueError("who knows?")


class Doubtful(Exception, metaclass=Unsure):
    """Nobody can tell what is one."""


ODD = ("OddException", "does not tell what every exception tells")


@RAISES.row("an exception that is a frozen dataclass", FAILS, "Frozen", "3")
def frozen() -> NoReturn:
    raise Frozen(3)


@RAISES.row("an exception whose `__bool__` raises", FAILS, "Undecided", "cannot be shown")
def undecided() -> NoReturn:
    raise Undecided


@RAISES.row("an exception whose `__str__` gives a `str` of its own", FAILS, "Wordy", "in words of")
def wordy() -> NoReturn:
    raise Wordy


@RAISES.row("an exception whose `__traceback__` raises", FAILS, *ODD)
def untraceable() -> NoReturn:
    raise Untraceable


@RAISES.row("an exception that poses as a `Retry`", FAILS, *ODD)
def posing() -> NoReturn:
    raise Posing


@RAISES.row("an exception whose class has no name", FAILS, *ODD)
def anonymous() -> NoReturn:
    raise Anonymous


@RAISES.row("`ExceptionGroup`, 3,000 of them in each other", FAILS, "ExceptionGroup", "nested")
def nested_groups() -> NoReturn:
    error: Exception = ValueError("within")
    for _ in range(3_000):
        error = ExceptionGroup("nested", [error])
    raise error


@RAISES.row(
    "an exception, and its `retry_on` has a class whose `isinstance` raises",
    FAILS,
    "ValueError",
    "which?",
    retry_on=Doubtful,
)
def doubtful() -> NoReturn:
    raise ValueError("which?")
