"""Until when the calls of one operation may take, where it makes several one after the other.

Only a blocking store does: of a Cluster it asks shard after shard, and several that are down would
otherwise cost the patience of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Final

_UNTIL: Final[ContextVar[float | None]] = ContextVar("until", default=None)

LEAST: Final = 0.05


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Let no call in the block take longer; a limit that is there already is not put off."""
    until, before = monotonic() + seconds, _UNTIL.get()
    token = _UNTIL.set(until if before is None else min(until, before))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def at_most(seconds: float) -> float:
    """So many seconds, or what is left of the limit; never nothing, so that an answer that is there
    can be read."""
    until = _UNTIL.get()
    return seconds if until is None else min(seconds, max(until - monotonic(), LEAST))


def is_over() -> bool:
    """Whether the limit has passed."""
    until = _UNTIL.get()
    return until is not None and monotonic() >= until


def is_limited() -> bool:
    return _UNTIL.get() is not None
