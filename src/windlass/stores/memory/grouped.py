"""Where jobs of groups stand in the lines of queues, by slot and by group."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable

from ...limits.fairness import SLOT

Stands = Callable[[str, int, str, str | None], bool]
"""Whether a job is in the line of a queue at a place, and of that group, if one is named."""


class Grouped:
    """Lists of places, in order. Some may be out of date: these go when they are met at an end."""

    def __init__(self, stands: Stands) -> None:
        self._stands = stands
        self._ids: dict[tuple[str, int], str] = {}
        self._slots: dict[tuple[str, int], list[int]] = {}
        self._groups: dict[tuple[str, str], list[int]] = {}

    def add(self, queue: str, group: str, place: int, id: str) -> None:
        """A job of a group is in the line, or is there still."""
        self._ids[queue, place] = id
        _put(self._slots.setdefault((queue, place // SLOT), []), place)
        _put(self._groups.setdefault((queue, group), []), place)

    def greatest(self, queue: str, group: str) -> int:
        """The last place that a group has; 0 if it has none."""
        return self._last(self._groups.get((queue, group), []), queue, group) or 0

    def last_between(self, queue: str, start: int, end: int) -> int | None:
        """The last place that is taken from `start` to before `end`, within a slot."""
        if end == start + 1:
            return start if self._is_taken(queue, start) else None
        places = self._slots.get((queue, start // SLOT), [])
        last = self._last(places, queue, None)
        if last is not None and last >= end:
            within = places[bisect_left(places, start) : bisect_left(places, end)]
            return next((each for each in reversed(within) if self._is_taken(queue, each)), None)
        return last if last is not None and last >= start else None

    def _is_taken(self, queue: str, place: int, group: str | None = None) -> bool:
        id = self._ids.get((queue, place))
        return id is not None and self._stands(queue, place, id, group)

    def _last(self, places: list[int], queue: str, group: str | None) -> int | None:
        while places and not self._is_taken(queue, places[-1], group):
            place = places.pop()
            if group is None:
                self._ids.pop((queue, place), None)
        return places[-1] if places else None


def _put(places: list[int], place: int) -> None:
    at = bisect_left(places, place)
    if at == len(places) or places[at] != place:
        insort(places, place)
