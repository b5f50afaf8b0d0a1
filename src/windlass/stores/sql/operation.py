"""How an operation asks for SQL without knowing who runs it.

An operation is a generator: it yields statements, is sent their rows, and returns its
answer. It decides; an engine executes, in one transaction, from a thread or from an
event loop. So one algorithm serves blocking and async drivers alike.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

Row = tuple[Any, ...]
Rows = Sequence[Row]


class Statement(NamedTuple):
    """One query by its file's name. Its rows are sent back."""

    query: str
    params: Mapping[str, Any] = {}


class Bulk(NamedTuple):
    """One query for many rows of parameters. The number of rows changed is sent back."""

    query: str
    rows: Rows


Operation = Generator[Statement | Bulk, Any, T]

Plan = Callable[[int], Operation[T]]
"""Makes an operation for the moment at which its transaction runs; called anew on a retry."""


def run(operation: Operation[T], execute: Callable[[Statement | Bulk], Any]) -> T:
    """Drive an operation to its end on a connection that blocks."""
    answer: Any = None
    while True:
        try:
            asked = operation.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        answer = execute(asked)


async def arun(operation: Operation[T], execute: Callable[[Statement | Bulk], Awaitable[Any]]) -> T:
    """Drive an operation to its end on an async connection."""
    answer: Any = None
    while True:
        try:
            asked = operation.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        answer = await execute(asked)


def one(row: Rows) -> Any:
    """The single value of a query that always has one."""
    return row[0][0]
