"""How much one script may be given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

LARGEST_CALL: Final = 500
"""The most jobs that one script looks at, so that none holds up the others for long."""

T = TypeVar("T")


def parts(values: Sequence[T], size: int = LARGEST_CALL) -> Iterator[Sequence[T]]:
    """Values in portions that one script may have."""
    return (values[start : start + size] for start in range(0, len(values), size))
