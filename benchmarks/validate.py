"""What it costs to hold arguments against the types of a task where they are enqueued."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from time import thread_time_ns
from typing import Any
from uuid import UUID

from windlass import Windlass

from .table import Goal, Line

USUAL = Goal("at most", 1_000)
ROUNDS = 30
CALLS = 3_000


@dataclass
class Address:
    street: str
    number: int


def no_arguments() -> None: ...
def one_int(a: int) -> None: ...
def five(a: int, b: str, c: bool, d: float, e: str | None) -> None: ...
def moments(a: datetime, b: UUID, c: Decimal, d: tuple[int, str], e: float) -> None: ...
def by_name(a: int, b: str) -> None: ...
def items(a: list[int], b: dict[str, int]) -> None: ...
def anything(a: dict[str, Any]) -> None: ...
def address(a: Address) -> None: ...


CASES: list[tuple[str, Callable[..., None], tuple[Any, ...], dict[str, Any]]] = [
    ("no arguments", no_arguments, (), {}),
    ("int", one_int, (1,), {}),
    ("int, str, bool, float, str | None", five, (1, "x", True, 1.5, None), {}),
    (
        "datetime, UUID, Decimal, tuple[int, str], float by an int",
        moments,
        (datetime(2026, 1, 1, tzinfo=UTC), UUID(int=1), Decimal("1.5"), (1, "x"), 1),
        {},
    ),
    ("int and str by name", by_name, (), {"a": 1, "b": "x"}),
    ("list[int] of 5, dict[str, int] of 3", items, ([1, 2, 3, 4, 5], {"a": 1, "b": 2, "c": 3}), {}),
    ("dict[str, Any] of 5", anything, (dict.fromkeys("abcde", 1),), {}),
    ("a dataclass: written and read back", address, (Address("x", 1),), {}),
]


def lines() -> Iterator[Line]:
    for name, func, args, kwargs in CASES:
        checked, trusted = (
            partial(Windlass("memory://", validate=validate).task(func).call, *args, **kwargs)
            for validate in (True, False)
        )
        with_it, without = both(checked, trusted)
        detail = f"task.call {with_it:,.0f} ns, without {without:,.0f} ns"
        goal = USUAL if func is not address else None
        yield Line(f"validate {name}", with_it - without, "ns", detail, goal)


def both(one: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """Nanoseconds for each: the best of several rounds, by turns, as a neighbour may be busy."""
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for place, act in enumerate((one, other)):
            began = thread_time_ns()
            for _ in range(CALLS):
                act()
            best[place] = min(best[place], (thread_time_ns() - began) / CALLS)
    return best[0], best[1]
