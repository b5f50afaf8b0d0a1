"""Whether a long line of waiting jobs makes a worker slower."""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryDirectory

from .drain import drain_from, fill
from .process import isolated
from .table import Goal, Line, ratio

NUMBER = 20_000
SHORT, LONG = 1_000, 1_000_000


def lines() -> Iterator[Line]:
    with TemporaryDirectory() as short, TemporaryDirectory() as long:
        isolated(fill, short, SHORT)
        isolated(fill, long, LONG)

        def drained(folder: str) -> float:
            isolated(fill, folder, NUMBER)
            return isolated(drain_from, folder, NUMBER)

        yield ratio(
            "drain with a million waiting",
            lambda: drained(long),
            lambda: drained(short),
            (f"behind it {LONG:,}", f"{SHORT:,}"),
            Goal("at least", 0.8),
        )
