"""Lanes as rows: their limits and what is kept of them. Who has a slot, or waits for one, is told
by the jobs themselves.

A step notes in its tally which lanes it has changed. They are settled at its end, in one order
everywhere, under the lock of their rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from ...core.lane import Lane
from ...core.states import State
from ...limits.admission import MOST_ADMITTED, LaneState, Standing, idle_from, noticed, settle
from .operation import Bulk, Operation, Row, Statement
from .rows import json_array
from .tally import Key, Tally, Touch

HAS: Final = 1
WAITS: Final = 0
"""The slot of a job, and of one that waits for it; a job that is elsewhere has none."""

PRUNED_AT_ONCE: Final = 1_000

_encode = msgspec.msgpack.Encoder().encode
_decode_limits = msgspec.msgpack.Decoder(Lane).decode
_decode_state = msgspec.msgpack.Decoder(LaneState).decode


class Waiting(NamedTuple):
    """A job that waits for a slot; in the order of `in_lane.sql`."""

    id: str
    state: str
    due: int


class Settlement(NamedTuple):
    """What is to be written once all lanes of a step are settled, as rows of their queries."""

    admitted: list[Row]
    tickets: list[Row]
    lanes: list[Row]


def conclude(tally: Tally, now: int) -> Operation[None]:
    """The end of every step: settle the lanes that it has changed, and write the counts."""
    if tally.lanes:
        yield from settle_all(tally, now)
    yield from tally.write()


def settle_all(tally: Tally, now: int) -> Operation[None]:
    """Give out the slots that are free in the lanes that a step has changed so far."""
    yield from load(tally.lanes, now)
    made = Settlement([], [], [])
    for key in sorted(tally.lanes):
        if tally.lanes[key].changed:
            yield from _settle(key, tally.lanes[key], made, tally, now)
    tally.lanes.clear()
    if made.admitted:
        yield Bulk("admit", made.admitted)
    if made.tickets:
        yield Bulk("set_ticket", made.tickets)
    if made.lanes:
        yield Bulk("save_lane", made.lanes)


def load(lanes: dict[Key, Touch], now: int) -> Operation[None]:
    """Read the lanes that were not read yet, locked; those that are not there are made."""
    missing = [key for key in sorted(lanes) if lanes[key].state is None]
    if not missing:
        return
    yield from _read(missing, lanes)
    new = [key for key in missing if lanes[key].state is None]
    if new:
        rows: list[Row] = [
            (*key, _encode(lanes[key].own), _encode(LaneState()), now) for key in new
        ]
        yield Bulk("add_lane", rows)
        # Another may have made it meanwhile.
        yield from _read(new, lanes)


def _read(keys: Iterable[Key], lanes: dict[Key, Touch]) -> Operation[None]:
    names: defaultdict[str, list[str]] = defaultdict(list)
    for queue, name in keys:
        names[queue].append(name)
    for queue, these in names.items():
        rows = yield Statement("lanes", {"queue": queue, "names": json_array(these)})
        for name, limits, record, idle_at in rows:
            touch = lanes[queue, name]
            touch.saved = (limits_in(limits, touch.own), _state(record))
            touch.state, touch.idle_at = touch.saved[1], idle_at


def limits_in(record: bytes | None, own: Lane) -> Lane:
    """The limits in a record; those of a job of the lane if it is damaged or not there."""
    try:
        return own if record is None else _decode_limits(record)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError):
        return own


def _state(record: bytes) -> LaneState:
    try:
        return _decode_state(record)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError):
        return LaneState()


def limits_of(touch: Touch) -> Lane:
    """The limits that hold, of a lane that was loaded."""
    return touch.limits or (touch.saved[0] if touch.saved else touch.own)


def _settle(key: Key, touch: Touch, made: Settlement, tally: Tally, now: int) -> Operation[None]:
    lane = limits_of(touch)
    # More than this changes nothing about what is decided.
    most = max(1, lane.slots, lane.starts, lane.burst)
    where = {"queue": key[0], "lane": key[1]}
    [(held, pending)] = yield Statement("standing", {**where, "limit": most})
    waiting = yield from _first_waiting(key, lane, _concerned(lane, held))
    standing = Standing(held, pending, len(waiting), touch.entered)
    state = noticed(touch.state or LaneState(), standing, now)
    admitted, ticket_at = settle(lane, state, standing, now)
    for job in waiting[:admitted]:
        made.admitted.append((job.id,))
        tally.move(key[0], job.state, State.PENDING)
    before = yield from _ticket(key, state.ticket, waiting)
    ticket = None if before in waiting[:admitted] else before
    if ticket_at is not None:
        ticket = ticket or waiting[admitted]
        _set_ticket(key[0], ticket, State.SCHEDULED, ticket_at, made, tally)
    elif ticket is not None:
        _set_ticket(key[0], ticket, State.BLOCKED, ticket.due, made, tally)
        ticket = None
    state = msgspec.structs.replace(state, ticket=ticket.id if ticket else "")
    idle_at = None if held or waiting else idle_from(lane, state, now)
    if touch.saved != (lane, state) or touch.idle_at != idle_at:
        made.lanes.append((_encode(lane), _encode(state), idle_at, *key))


def _concerned(lane: Lane, held: int) -> int:
    """How many of those that wait make a difference to what is decided."""
    if lane.size:
        return lane.size
    free = lane.slots - held if lane.slots else MOST_ADMITTED
    starts = lane.burst or lane.starts or MOST_ADMITTED
    return max(1, min(free, starts, MOST_ADMITTED))


def _first_waiting(key: Key, lane: Lane, limit: int) -> Operation[list[Waiting]]:
    params = {"queue": key[0], "lane": key[1], "limit": limit}
    if lane.in_order:
        rows = yield Statement("in_lane_order", params)
    else:
        rows = yield Statement("in_lane", params)
    return [Waiting._make(row) for row in rows]


def _ticket(key: Key, id: str, waiting: Sequence[Waiting]) -> Operation[Waiting | None]:
    """The ticket that there was, if it still waits."""
    found = next((job for job in waiting if job.id == id), None)
    if id and found is None:
        # Others may have come before it, more of them than were looked at.
        where = {"queue": key[0], "lane": key[1], "id": id}
        found = next(map(Waiting._make, (yield Statement("ticket", where))), None)
    return found


def _set_ticket(
    queue: str, job: Waiting, state: State, due: int, made: Settlement, tally: Tally
) -> None:
    """Schedule a ticket, or let it wait like the others, unless it does."""
    if (job.state, job.due) != (state, due):
        made.tickets.append((state.value, due, job.id))
        tally.move(queue, job.state, state)


def prune(now: int) -> Operation[None]:
    """Forget lanes that nobody is in and whose rate says nothing any more."""
    yield Statement("prune_lanes", {"now": now, "limit": PRUNED_AT_ONCE})
