"""Handlers whose exceptions and results are hard to show, to encode or to take apart."""

import asyncio
import enum
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NoReturn

from tests.hostile.handlers.case import DONE, FAILS, Table

SHOWS = Table("raises what is hard to show:")
GIVES = Table("returns what is hard to encode:")
TABLES = (SHOWS, GIVES)


class NoText(Exception):
    def __str__(self) -> str:
        return 5  # type: ignore[return-value]


@SHOWS.row("an exception whose `__str__` gives a number", FAILS, "NoText", "cannot be shown")
def no_text() -> NoReturn:
    raise NoText


class Hidden(Exception):
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


@SHOWS.row(
    "an exception whose attributes cannot be read",
    FAILS,
    "OddException",
    "does not tell what every",
)
def hidden() -> NoReturn:
    raise Hidden("hidden")


class Alike(Exception):
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not comparable")

    def __hash__(self) -> int:
        raise RuntimeError("not hashable")


@SHOWS.row("an exception that cannot be compared or hashed", FAILS, "Alike", "odd")
def alike() -> NoReturn:
    raise Alike("odd")


@SHOWS.row("an exception of a class whose name is no UTF-8", FAILS, "Cafe", "named")
def misnamed() -> NoReturn:
    kind = type("Cafe", (Exception,), {})
    kind.__qualname__ = kind.__module__ = "caf\udce9\0"
    raise kind("named")


@SHOWS.row("an exception of a class with a name of 1 MB", FAILS, "Eee", "named")
def long_named() -> NoReturn:
    raise type("E" + "e" * 1_000_000, (Exception,), {})("named")


@SHOWS.row("a `SyntaxError` with fields of wrong types", FAILS, "SyntaxError", "cannot be shown")
def wrong_syntax() -> NoReturn:
    wrong: Any = (5, "x", object(), 5, -1, 10**30)
    raise SyntaxError("wrong", wrong)


class Listed:
    def __dir__(self) -> NoReturn:
        sys.exit(6)


@SHOWS.row("an `AttributeError` of an object whose `__dir__` exits", FAILS, "AttributeError", "")
def no_suggestion() -> NoReturn:
    raise AttributeError("no such thing", name="thing", obj=Listed())


@SHOWS.row("an exception with notes of 1 MB, no UTF-8", FAILS, "ValueError", "noted")
def noted() -> NoReturn:
    error = ValueError("noted")
    error.add_note("caf\udce9" * 200_000)
    raise error


@SHOWS.row("`ExceptionGroup`s, 2,000 in each other", FAILS, "ExceptionGroup", "", on="at")
@SHOWS.row("`ExceptionGroup`s, 2,000 in each other", FAILS, "ExceptionGroup", "", on="p")
def nested() -> NoReturn:
    error: Exception = ValueError("inmost")
    for level in range(2_000):
        error = ExceptionGroup(f"level {level}", [error])
    raise error


@SHOWS.row("an `ExceptionGroup` of 500", FAILS, "ExceptionGroup", "many")
def wide() -> NoReturn:
    raise ExceptionGroup("many", [ValueError(number) for number in range(500)])


@SHOWS.row("a `BaseExceptionGroup` with `SystemExit`", FAILS, "BaseExceptionGroup", "leaving")
def leaving_group() -> NoReturn:
    raise BaseExceptionGroup("leaving", [SystemExit(3), KeyboardInterrupt()])


@SHOWS.row("an exception with itself among its `args`", FAILS, "ValueError", "")
def own_argument() -> NoReturn:
    error = ValueError()
    error.args = ([error] * 10,)
    raise error


@SHOWS.row("causes that go in a circle", FAILS, "ValueError", "first")
def circle() -> NoReturn:
    first, second = ValueError("first"), KeyError("second")
    first.__cause__, second.__cause__ = second, first
    raise first


class Level(enum.IntEnum):
    HIGH = 1


class Text(str):
    pass


@GIVES.row("a member of an `IntEnum`", DONE)
def member() -> Any:
    return Level.HIGH


@GIVES.row("a subclass of `str`", DONE, on="at")
def subclass() -> Any:
    return Text("text")


@GIVES.row("`range(10**12)`", FAILS, "UnencodableValue", "range")
def endless() -> Any:
    return range(10**12)


@GIVES.row("a dict with keys that are lists of themselves", FAILS, "UnencodableValue", "")
def odd_keys() -> Any:
    key: tuple[Any, ...] = ([],)
    key[0].append(key)
    return {("a", 1): key}


@GIVES.row("a set with itself in a tuple", DONE)
def odd_set() -> Any:
    return {("a", frozenset({1}))}


class Mapped(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("no items")

    def __len__(self) -> int:
        return 1


@GIVES.row("a `dict` whose `items` raises", DONE, on="at")
def no_items() -> Any:
    return Mapped(a=1)


class Classless:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError("no class")


@GIVES.row("an object whose `__class__` raises", FAILS, "RuntimeError", "no class", on="at")
def classless() -> Any:
    return Classless()


async def numbers() -> AsyncIterator[int]:
    yield 1


@GIVES.row("an async generator", FAILS, "UnencodableValue", "generator")
def async_generator() -> Any:
    return numbers()


@GIVES.row("an open file", FAILS, "UnencodableValue", "")
def a_file() -> Any:
    return open(__file__)


@GIVES.row("a `Future` of another event loop", FAILS, "UnencodableValue", "Future", on="a")
@GIVES.row("a `Future` of another event loop", FAILS, "RuntimeError", "loop", on="tp")
def foreign_future() -> Any:
    return asyncio.new_event_loop().create_future()


class Awaits:
    def __await__(self) -> Iterator[Any]:
        yield 5


@GIVES.row("what awaits a number", FAILS, "UnencodableValue", "Awaits", on="a")
@GIVES.row("what awaits a number", FAILS, "RuntimeError", "", on="tp")
def awaits() -> Any:
    return Awaits()


async def leave() -> NoReturn:
    sys.exit(3)


@GIVES.row("a coroutine that calls `sys.exit`", FAILS, "UnencodableValue", "coroutine", on="a")
@GIVES.row("a coroutine that calls `sys.exit`", FAILS, "SystemExit", "3", on="tp")
def leaving_coroutine() -> Any:
    return leave()


def lazily() -> Callable[[], int]:
    return lambda: 0


@GIVES.row("a function", FAILS, "UnencodableValue", "function", on="at")
@GIVES.row("a function", FAILS, "UnencodableValue", "lambda", on="p")
def a_function() -> Any:
    return lazily()
