"""Where in the line a job of a group goes: groups take turns, each by its weight.

Start-time fair queueing: a job stands one step behind the last of its group, or behind the job
that was handed out last if its group has none. So the line itself is fair, and a claim pays
nothing for it. No two jobs of a line have the same place: who comes to a place that is taken
goes behind those that are there, a fraction of a step later.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final

BAND: Final = 2**40
"""The places of grouped jobs begin here: behind those of jobs that have no group."""

STEP: Final = 2**14
"""The distance between two jobs of a group of weight 1."""

SLOT: Final = 2**10
"""Who finds a place taken goes behind the last one of the slot that it lies in."""

NEAR: Final = 2**4
"""A group with a weight first looks for a free place so close behind: its step is a part of `STEP`,
and what it is late by each time is missing from its share."""


def wanted_place(clock: int, greatest: int, weight: int) -> int:
    """The place that a job should have: `clock` is that of the grouped job of this queue that was
    claimed last, `greatest` the last place that its group has in the line; 0 if there is none."""
    return max(BAND, clock, greatest) + max(1, STEP // weight)


def search(clock: int, greatest: int, weight: int) -> Generator[tuple[int, int], int | None, int]:
    """Find the place that a job gets. Each question is: the greatest place, of all groups that are
    in the line of the queue, from one place to before another; None if there is none there.

    With both the same, it is where the first slot begins, from there on, whose last place is free:
    where many groups wait, slot after slot is full, and one by one it would take the longer the
    more there are. See `first_free`.
    """
    wanted = wanted_place(clock, greatest, weight)
    while (yield wanted, wanted + 1) is not None:
        end = wanted - wanted % SLOT + SLOT
        for before in (min(wanted + NEAR, end), end) if weight > 1 else (end,):
            last = yield wanted, before
            if last is not None and last + 1 < before:
                return last + 1
        wanted = (yield end, end) or end
    return wanted


def first_free(start: int, is_full: Callable[[int], bool]) -> int:
    """The first slot from the one that begins at `start` on that is not full; of slots far apart
    it may be one behind it, if full ones follow again."""
    low, step = start - SLOT, SLOT
    while is_full(low + step):
        low, step = low + step, 2 * step
    high = low + step
    while high - low > SLOT:
        middle = low + (high - low) // SLOT // 2 * SLOT
        low, high = (middle, high) if is_full(middle) else (low, middle)
    return high


def place_of(
    clock: int, greatest: int, weight: int, last_between: Callable[[int, int], int | None]
) -> int:
    """The place that a job gets, for who can answer at once."""

    def is_full(slot: int) -> bool:
        return last_between(slot, slot + SLOT) == slot + SLOT - 1

    searching = search(clock, greatest, weight)
    start, end = next(searching)
    while True:
        answer = first_free(start, is_full) if start == end else last_between(start, end)
        try:
            start, end = searching.send(answer)
        except StopIteration as found:
            place: int = found.value
            return place
