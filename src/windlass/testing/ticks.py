"""The ticks of an app's schedules in a test: none is late, however far a clock was moved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from ..app import Windlass
from ..core.schedule import Schedule
from ..scheduler.leader import Leader
from ..scheduler.ticker import Ticker
from ..stores.contract import Store
from .clock import FakeClock

Settled = Callable[[], Awaitable[None]]
"""Waits until no job is left that could run now."""


async def make_ticks(app: Windlass, store: Store, settled: Settled) -> None:
    """See to all ticks that have come, as a worker would have that was always there.

    In real time the rules of a worker hold, for what passed before it has really passed.
    """
    declared = app.registry.schedules
    if not isinstance(app.clock, FakeClock):
        if declared:
            await store.put_schedules([*declared.values()])
        await Ticker(store, Leader(store, "test"), {}, app.registry.events).attend()
        return
    # A new one counts from the moment at which the clock began, not from the first look.
    began = min(app.clock.began, app.clock.now)
    if declared:
        await store.put_schedules([replace(each, last=began) for each in declared.values()])
    while found := await _oldest(store):
        tick, schedule = found
        if schedule.overlap != "allow":
            await settled()
        receipt = await store.tick(schedule, tick)
        if receipt is not None and (ticked := app.registry.events.ticked):
            ticked(schedule, receipt, 0.0)


async def _oldest(store: Store) -> tuple[int, Schedule] | None:
    """The first tick that has come and was not seen to."""
    now = await store.now()
    ticks = [
        (tick, each.name, each)
        for each in await store.schedules()
        if not each.paused and (tick := each.timetable.after(each.last)) <= now
    ]
    if not ticks:
        return None
    tick, _, schedule = min(ticks)
    return tick, schedule
