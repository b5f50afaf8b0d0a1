"""The schedules that there are, each with its last tick."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...core.schedule import Schedule

replace = msgspec.structs.replace


class Timetable:
    """Schedules by name. What is the store's own of one stays when it is changed."""

    def __init__(self) -> None:
        self._schedules: dict[str, Schedule] = {}

    def put(self, new: Schedule, now: int) -> None:
        old = self._schedules.get(new.name) or replace(new, last=new.last or now)
        self._schedules[new.name] = replace(new, paused=old.paused, last=old.last, job=old.job)

    def all(self) -> Sequence[Schedule]:
        return [self._schedules[name] for name in sorted(self._schedules)]

    def pause(self, names: Sequence[str], paused: bool, now: int) -> frozenset[str]:
        known = frozenset(names) & self._schedules.keys()
        for name in known:
            kept = self._schedules[name]
            resumes = kept.paused and not paused
            last = max(kept.last, now) if resumes else kept.last
            self._schedules[name] = replace(kept, paused=paused, last=last)
        return known

    def drop(self, names: Sequence[str]) -> frozenset[str]:
        known = frozenset(names) & self._schedules.keys()
        for name in known:
            del self._schedules[name]
        return known

    def tick(self, read: Schedule, tick: int, now: int) -> Schedule | None:
        """Note a tick; the schedule it is of, None if it is not to be seen to."""
        kept = self._schedules.get(read.name)
        if kept is None or kept.paused or kept.last != read.last or not kept.last < tick <= now:
            return None
        self._schedules[kept.name] = replace(kept, last=tick)
        return kept

    def made(self, name: str, job: str) -> None:
        self._schedules[name] = replace(self._schedules[name], job=job)
