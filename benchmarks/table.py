"""What a benchmark found, and the table in which all of them are printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Literal, NamedTuple

from rich.console import Console
from rich.table import Table


class Goal(NamedTuple):
    """The bound that a figure should keep."""

    kind: Literal["at least", "at most"]
    value: float

    def met(self, value: float) -> bool:
        return value >= self.value if self.kind == "at least" else value <= self.value


class Line(NamedTuple):
    """One figure. `value` is held against the goal; `detail` says what it was made of."""

    name: str
    value: float
    unit: str
    detail: str = ""
    goal: Goal | None = None


def ratio(
    name: str,
    ours: Callable[[], float],
    other: Callable[[], float],
    labels: tuple[str, str],
    goal: Goal | None = None,
    rounds: int = 5,
) -> Line:
    """How many times the other's rate ours is: the median of rounds taken in turns.

    In turns, because the speed of a shared machine drifts: what is compared was measured
    within the same seconds.
    """
    return paired(name, [(ours(), other()) for _ in range(rounds)], labels, goal)


def paired(
    name: str,
    pairs: Sequence[tuple[float, float]],
    labels: tuple[str, str],
    goal: Goal | None = None,
) -> Line:
    """The same of rates that were measured in turns already."""
    value = median(a / b for a, b in pairs)
    columns = zip(*pairs, strict=True)
    rates = [
        f"{label} {median(rates):,.0f}/s" for label, rates in zip(labels, columns, strict=True)
    ]
    return Line(name, value, "×", ", ".join(rates), goal)


def show(lines: Sequence[Line]) -> None:
    table = Table(title="Windlass: measured in this run")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("goal", justify="right")
    table.add_column("met")
    table.add_column("made of")
    for line in lines:
        goal = f"{line.goal.kind} {line.goal.value:g}" if line.goal else ""
        met = "" if line.goal is None else "yes" if line.goal.met(line.value) else "no"
        table.add_row(line.name, f"{figure(line.value)} {line.unit}", goal, met, line.detail)
    Console().print(table)


def figure(value: float) -> str:
    """Three digits, or all that are before the point."""
    return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
