"""Schedules as rows: what each is to do is one record, the store's own share has its columns."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from ...core.model import NewJob, Receipt
from ...core.schedule import Schedule, Turn, following, turn
from .admin import get
from .lock import lock
from .operation import Bulk, Operation, Plan, Row, Rows, Statement
from .rows import json_array

log = logging.getLogger("windlass")

Inserting = Callable[[Sequence[NewJob]], Plan[Sequence[Receipt]]]

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Schedule).decode
replace = msgspec.structs.replace


def put(schedules: Sequence[Schedule], now: int) -> Operation[None]:
    # In one order everywhere, as all who change several rows do; of one name, the last counts.
    last = {each.name: each for each in schedules}
    rows: list[Row] = [_row(last[name], now) for name in sorted(last)]
    if rows:
        yield Bulk("put_schedule", rows)


def listed() -> Operation[Sequence[Schedule]]:
    return _readable((yield Statement("schedules")))


def pause(names: Sequence[str], paused: bool, now: int) -> Operation[frozenset[str]]:
    known = yield from _known(names)
    if known:
        # Ticks that a pause has held back are over: it goes on from now.
        since = 0 if paused else now
        yield Bulk("pause_schedule", [(since, since, int(paused), name) for name in known])
    return frozenset(known)


def drop(names: Sequence[str]) -> Operation[frozenset[str]]:
    known = yield from _known(names)
    if known:
        yield Bulk("drop_schedule", [(name,) for name in known])
    return frozenset(known)


def tick(
    schedule: Schedule, tick: int, now: int, inserting: Inserting
) -> Operation[Receipt | None]:
    found = _readable((yield Statement("schedule", {"name": schedule.name})))
    if not found or found[0].paused or found[0].last != schedule.last:
        return None
    kept = found[0]
    if not kept.last < tick <= now:
        return None
    new, job = kept.new_job(tick), kept.job
    # Locked, so that it is still there if it is to be waited for.
    before = (yield from get([job])) if (yield from lock([job])) else {}
    outcome = turn(kept.overlap, before.get(job))
    if outcome is not Turn.LEFT_OUT:
        job = new.id
    yield Statement("tick", {"name": kept.name, "last": tick, "job": job})
    if outcome is Turn.LEFT_OUT:
        return Receipt(job, duplicate=True)
    if outcome is Turn.FOLLOWS:
        new = following(new, kept.job)
    [receipt] = yield from inserting([new])(now)
    return receipt


def _known(names: Sequence[str]) -> Operation[list[str]]:
    if not names:
        return []
    rows = yield Statement("known_schedules", {"ids": json_array(sorted(set(names)))})
    return sorted(name for (name,) in rows)


def _row(schedule: Schedule, now: int) -> Row:
    """The parameters of `put_schedule.sql`: the last three are those of a new one."""
    last, paused = schedule.last or now, int(schedule.paused)
    return (schedule.name, _definition(schedule), paused, last, schedule.job)


def _definition(schedule: Schedule) -> bytes:
    """The record of what a schedule is to do."""
    return _encode(replace(schedule, paused=False, last=0, job=""))


def _readable(rows: Rows) -> list[Schedule]:
    """Schedules from rows; a damaged one is left out, for nobody could say what it is to do."""
    found = []
    for name, definition, paused, last, job in rows:
        try:
            kept = _decode(definition)
        except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as error:
            log.warning("the schedule %s is damaged and left out: %s", name, error)
            continue
        found.append(replace(kept, name=name, paused=bool(paused), last=last, job=job))
    return found
