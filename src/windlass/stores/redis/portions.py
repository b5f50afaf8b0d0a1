"""How much one script may be given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

LARGEST_CALL: Final = 500
"""The most jobs that one script looks at, so that none holds up the others for long."""

LARGEST_WRITE: Final = 2 * 1024 * 1024
"""The most bytes of payloads that one script takes, but for the last one's."""

LARGEST_ENDS: Final = 1024 * 1024
"""The same of results and checkpoints, which the journal has once more."""

T = TypeVar("T")


def parts(values: Sequence[T], size: int = LARGEST_CALL) -> Iterator[Sequence[T]]:
    """Values in portions that one script may have."""
    return (values[start : start + size] for start in range(0, len(values), size))


def light_parts(
    values: Sequence[T],
    weight: Callable[[T], int],
    most_bytes: int = LARGEST_ENDS,
    size: int = LARGEST_CALL,
) -> Iterator[Sequence[T]]:
    """The same, of values that may be large."""
    for part in parts(values, size):
        yield from _light(part, weight, most_bytes)


def _light(
    values: Sequence[T], weight: Callable[[T], int], most_bytes: int
) -> Iterator[Sequence[T]]:
    if sum(map(weight, values)) < most_bytes:
        yield values
        return
    start = total = 0
    for at, value in enumerate(values):
        total += weight(value)
        if total >= most_bytes:
            yield values[start : at + 1]
            start, total = at + 1, 0
    if start < len(values):
        yield values[start:]
