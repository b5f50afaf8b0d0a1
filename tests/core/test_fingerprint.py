"""The fingerprint of a call: what makes two calls the same, in any process."""

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from windlass.core.arguments import Arguments
from windlass.core.fingerprint import fingerprint
from windlass.errors import UnencodableValue

ROOT = Path(__file__).parents[2]
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def call(a: Any, b: Any = 2, *rest: Any, c: Any = 3, **others: Any) -> None: ...


def taken(*args: Any, **kwargs: Any) -> str:
    return fingerprint("call", Arguments.of(call).bound(args, kwargs))


PRINT_TAKEN = """
import sys
from windlass.core.fingerprint import fingerprint

given = {"a": {*sys.argv[1:]}, "b": 2, "rest": (), "c": 3, "others": {}}
print(fingerprint("call", given))
"""


@pytest.mark.parametrize(
    "other",
    [
        lambda: taken(1, 2),
        lambda: taken(a=1),
        lambda: taken(b=2, a=1),
        lambda: taken(1, c=3),
        lambda: taken(1, 2, c=3),
    ],
)
def test_how_arguments_are_passed_makes_no_difference(other: Any) -> None:
    assert other() == taken(1)


@pytest.mark.parametrize(
    "other",
    [
        lambda: taken(2),
        lambda: taken("1"),
        lambda: taken(1.5),
        lambda: taken(True),
        lambda: taken(1, 3),
        lambda: taken(1, 2, 3),
        lambda: taken(1, c=4),
        lambda: taken(1, d=3),
        lambda: fingerprint("other", Arguments.of(call).bound([1], {})),
    ],
)
def test_what_is_passed_does(other: Any) -> None:
    assert other() != taken(1)


def test_dicts_and_sets_have_no_order() -> None:
    assert taken({"a": 1, "b": {3: 1, 2: 2}}) == taken({"b": {2: 2, 3: 1}, "a": 1})
    assert taken(1, x=1, y=2) == taken(1, y=2, x=1)
    assert taken({"x", "y", "z"}) == taken({"z", "y", "x"})
    assert taken([1, 2]) != taken([2, 1])


def test_values_count_by_what_is_stored_of_them() -> None:
    @dataclass
    class Point:
        x: int
        y: int

    assert taken(Point(1, 2)) == taken({"x": 1, "y": 2})
    assert taken(NOON) == taken(NOON.astimezone(timezone(timedelta(hours=5))))
    assert taken(2**80) == taken(2**80) != taken(2**80 + 1)


def test_neither_the_context_nor_resources_are_part_of_it() -> None:
    class Marker: ...

    def handler(first: Marker, a: int, b: int = 2) -> None: ...

    assert Arguments.of(handler, inject=Marker).bound([1], {}) == {"a": 1, "b": 2}


def test_every_process_takes_the_same() -> None:
    """Texts hash differently in each; a set of them is in another order."""
    words = ("Ada", "Bob", "Eve", "Joe", "Kim")
    for seed in ("1", "2", "3"):
        environ = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}/src"}
        done = subprocess.run(
            [sys.executable, "-c", PRINT_TAKEN, *words],
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == taken({*words})


@pytest.mark.parametrize("value", [object(), {1: 1, "a": 2}, {1, "a"}])
def test_arguments_that_cannot_be_compared_are_refused(value: Any) -> None:
    with pytest.raises(UnencodableValue, match="cannot tell calls of call apart") as caught:
        taken(value)
    assert "Give a key, or a function" in str(caught.value)
    assert "\n" not in str(caught.value)
