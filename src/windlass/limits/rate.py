"""How many jobs of a lane may start now. Whole numbers only: a script must come to the same.

With tokens, the state is one moment in microseconds: when the bucket will be full again. Each
start moves it one interval further.

With a window, it is a short log: how many have started in each fiftieth of the window. What
started within one of these counts until the window after its end: never more than allowed in
any window, and a fiftieth late at worst.
"""

from __future__ import annotations

from typing import Final

from ..core.lane import Lane

PARTS: Final = 50

Log = tuple[tuple[int, int], ...]
"""The end of a part and how many started in it, oldest first."""


def interval(lane: Lane) -> int:
    """Microseconds between two tokens."""
    return max(1, lane.per * 1000 // lane.starts)


def tokens(lane: Lane, full_at: int, log: Log, now: int) -> int:
    """How many may start now."""
    if lane.burst:
        step = interval(lane)
        used = max(0, full_at - now * 1000)
        return max(0, (lane.burst * step - used) // step)
    return max(0, lane.starts - sum(number for _, number in _recent(lane, log, now)))


def opens_at(lane: Lane, full_at: int, log: Log, now: int) -> int:
    """The moment, in milliseconds, at which the next may start, if none may now."""
    if lane.burst:
        first = full_at - (lane.burst - 1) * interval(lane)
        return -(-first // 1000)
    return min(end for end, _ in _recent(lane, log, now)) + lane.per


def started(lane: Lane, full_at: int, log: Log, now: int, number: int) -> tuple[int, Log]:
    """The state after so many starts."""
    if lane.burst:
        return max(full_at, now * 1000) + number * interval(lane), ()
    part = max(1, lane.per // PARTS)
    end = now - now % part + part
    counts = dict(_recent(lane, log, now))
    counts[end] = counts.get(end, 0) + number
    return 0, tuple(sorted(counts.items()))


def idle_at(lane: Lane, full_at: int, log: Log, now: int) -> int:
    """From when on the state says nothing any more."""
    if lane.burst:
        return max(now, -(-full_at // 1000))
    return max([now, *(end + lane.per for end, _ in log)])


def _recent(lane: Lane, log: Log, now: int) -> Log:
    return tuple((end, number) for end, number in log if end + lane.per > now)
