"""Enqueues what schedules ask for, when its time has come.

Only the store's clock counts, and the store sees to each tick but once, in one step with its job:
see `Store.tick`. So any number of tickers can run, and one can be killed at any moment: the next
look finds what is not done yet, by whomever. Being the leader only saves work.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from ..core.cron import timetable
from ..core.schedule import Schedule
from ..errors import Forbidden, StoreError
from ..observe.events import Events
from ..service import Service
from ..stores.contract import Store
from .leader import Leader

log = logging.getLogger("windlass")

LONGEST_PAUSE: Final = 5.0
"""Seconds until schedules are looked at again even if none is due: others may add some."""

FOLLOWING: Final = 0.25
"""Seconds between two looks at whether this process leads by now; the store is not asked."""

AGAIN_MS: Final = 250
"""How soon to look again where somebody else was quicker, or the schedule was just changed."""

_timetable = lru_cache(4096)(timetable)


class Ticker(Service):
    """Ticks while this process is the leader."""

    def __init__(
        self,
        store: Store,
        leader: Leader,
        declared: Mapping[str, Schedule],
        events: Events | None = None,
    ) -> None:
        super().__init__()
        self._store = store
        self._leader = leader
        self._declared = declared
        self._events = events or Events()
        self._faults: dict[str, str] = {}

    async def run(self) -> None:
        await self._declare()
        while not self.stopping:
            await self.pause(await self.attend() if self._leader.is_leader else FOLLOWING)

    async def _declare(self) -> None:
        """Put the schedules of the app, as far as the key allows that the store is reached by."""
        schedules = [*self._declared.values()]
        try:
            if schedules:
                await self._store.put_schedules(schedules)
        except Forbidden:
            for schedule in schedules:
                try:
                    await self._store.put_schedules([schedule])
                except Forbidden as error:
                    log.info("schedule %s is left to the server: %s", schedule.name, error)

    async def attend(self) -> float:
        """See to every tick that is due; the seconds until there may be another."""
        now = await self._store.now()
        soonest = now + round(LONGEST_PAUSE * 1000)
        for schedule in await self._store.schedules():
            if not schedule.paused:
                soonest = min(soonest, await self._attend_to(schedule, now) or soonest)
        # By the same clock again: what was due may have taken a while.
        return max(soonest - await self._store.now(), 1) / 1000

    async def _attend_to(self, schedule: Schedule, now: int) -> int | None:
        """See to one; None if it is broken, which is told once and holds up no other."""
        try:
            moment = await self._tick(schedule, now)
        except StoreError:
            raise
        except Exception as error:
            # Its text may be anyone's, and this machine may not know its time zone.
            if self._faults.get(schedule.name) != str(error):
                log.error("schedule %s does not tick: %s", schedule.name, error)
            self._faults[schedule.name] = str(error)
            return None
        self._faults.pop(schedule.name, None)
        return moment

    async def _tick(self, schedule: Schedule, now: int) -> int:
        """The ticks that are due, oldest first; when to look again."""
        table = _timetable(schedule.text, schedule.zone)
        for tick in table.due(schedule.last, now, schedule.missed):
            receipt = await self._store.tick(schedule, tick)
            if receipt is None:
                return now + AGAIN_MS
            if self._events.missed and (number := table.passed_over(schedule.last, tick)):
                self._events.missed(schedule, number)
            if self._events.ticked:
                self._events.ticked(schedule, receipt, max(now - tick, 0) / 1000)
            if receipt.duplicate:
                log.info("schedule %s: job %s is not finished yet", schedule.name, receipt.id)
            schedule = replace(schedule, last=tick)
        return table.after(now)
