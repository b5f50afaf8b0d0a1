"""Batches as users write them, and what a task that takes batches says of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec

from ..errors import InvalidArguments, InvalidOption, shown
from .arguments import Arguments
from .duration import duration_ms
from .lane import Lane
from .name import Key, checked_key

MOST: Final = 1_000


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """How jobs of a task are gathered: the handler gets up to `size` of them as one list.

    It goes when there are so many, when none has come for `grace`, or when the first has waited for
    `max_delay`; seconds or a timedelta. Each `key` gathers by itself.
    """

    size: int
    grace: float | timedelta = 1.0
    max_delay: float | timedelta = 10.0
    key: Key | None = None

    def __post_init__(self) -> None:
        size = self.size
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MOST:
            raise InvalidOption(
                f"The size of a batch is a whole number from 1 to {MOST:,}; got {shown(size)}."
            )
        checked_key(self.key, "key")
        self.lane("")

    def lane(self, name: str) -> Lane:
        """The lane that a batch is gathered in."""
        grace, longest = duration_ms(self.grace, "grace"), duration_ms(self.max_delay, "max_delay")
        return Lane(name, size=self.size, grace=grace, longest=longest)


def checked_batch(value: Any) -> Batch | None:
    if value is None or isinstance(value, Batch):
        return value
    raise InvalidOption(f"batch takes a Batch(…), as in Batch(size=100); got {shown(value)}.")


class ItemArguments(Arguments):
    """Of a function that takes a list: a job has one argument, an item of it, and one result."""

    __slots__ = ()

    def check(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if kwargs or len(args) != 1:
            raise InvalidArguments(
                f"{self.name}() takes batches, so a job of it has one argument without a name, an "
                f"item of the list; got {_given(args, kwargs)}."
            )

    def check_partly(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if kwargs or args:
            self.check(args, kwargs)

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return {"item": args[0]}

    def convert(
        self, args: list[Any], kwargs: dict[str, Any], *, binary: bool = False
    ) -> tuple[list[Any], dict[str, Any]]:
        # As a list of one, which is what the annotation is about.
        [[args[0]]], _ = super().convert([[args[0]]], {}, binary=binary)
        return args, kwargs

    def fits(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        return super().fits(([*args],), kwargs) if args else True

    def refuse_misfits(
        self, args: list[Any], kwargs: dict[str, Any], *, binary: bool = False, before: int = 0
    ) -> None:
        if args:
            super().refuse_misfits([[*args]], kwargs, binary=binary)

    def result(self, value: Any, *, binary: bool = False) -> Any:
        return None if value is None else super().result([value], binary=binary)[0]


def _given(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    by_name = f" and {', '.join(kwargs)} by name" if kwargs else ""
    return f"{len(args)}{by_name}"
