"""Handing jobs to workers, in two round trips where one queue has enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from ...core.model import Job
from ..sql.claim import Claim as Terms
from ..sql.claim import (
    Room,
    count,
    let_go_started,
    look_again,
    needs_more,
    note_turns,
    promote,
    with_company,
    with_specs,
)
from ..sql.lanes import conclude, settle_all
from ..sql.line import is_special
from ..sql.operation import Bulk, Operation, Row, Statement, one
from ..sql.promotion import Step
from ..sql.rows import CLAIM_COLUMNS, json_array, to_claimed, to_job
from ..sql.tally import Tally
from .horizon import Spot

PAUSED: Final = Statement("paused")
RANK: Final = CLAIM_COLUMNS.index("rank")


class Claim(NamedTuple):
    """One call of `claim`, which may take several tries."""

    queues: Mapping[str, int]
    limit: int
    lease: int
    worker: str
    most_bytes: int
    spots: Mapping[str, Spot]
    """where claims from these queues go on"""
    ends: dict[str, Spot | None]
    """and where this one ended; None where there was nothing"""
    tried: list[int]
    """the fences of tries whose end is not known"""
    lost: frozenset[int]
    """those of former calls, which failed; their jobs may be more than are asked for now"""
    step: Step
    """which of the queues are looked at for due jobs"""
    moment: int | None
    """the time, where the server does not tell it"""

    @property
    def fence(self) -> Statement:
        """Asks for a fence."""
        return Statement("next_fence", {"now": self.moment})


def foreseen(call: Claim) -> Sequence[Statement]:
    """What `claim` asks for before it knows the time."""
    if len(call.queues) != 1:
        return [_looks(call), PAUSED]
    [(queue, most)] = call.queues.items()
    soonest = [] if queue in call.step.passed else [Statement("soonest", {"queue": queue})]
    # The fence last: taken before its rows are locked, it could be below that of a quicker claim.
    first = _pick(queue, min(most, call.limit), call.spots.get(queue))
    return [*soonest, PAUSED, first, call.fence]


def _looks(call: Claim) -> Statement:
    """Where there is something: of many queues, most have nothing, and each costs a round trip."""
    return Statement("looks", {"queues": json_array(list(call.queues))})


def _found(call: Claim, now: int) -> Operation[tuple[list[str], list[str]]]:
    """The queues that may have something, and those that have due jobs to be looked at."""
    queues = call.queues
    times: dict[str, Sequence[int | None]] = {}
    some: set[str] = set()
    if len(queues) == 1:
        for queue in queues.keys() - call.step.passed:
            times[queue] = (yield Statement("soonest", {"queue": queue}))[0]
    else:
        for queue, pending, *dues in (yield _looks(call)):
            times[queue] = dues
            some |= {queue} if pending else set()
    ripe = [
        queue
        for queue in queues
        if queue not in call.step.passed
        and any(due is not None and due <= now for due in times.get(queue, ()))
    ]
    return [q for q in queues if q in some or q in ripe or len(queues) == 1], ripe


def _pick(queue: str, limit: int, after: Spot | None) -> Statement:
    if after is None:
        return Statement("pick", {"queue": queue, "limit": max(limit, 0)})
    values = {"queue": queue, "rank": after.rank, "place": after.place, "limit": max(limit, 0)}
    return Statement("pick_after", values)


def claim(call: Claim, now: int) -> Operation[Sequence[Job]]:
    for fence in call.tried:
        rows = yield Statement("claimed_before", {"fence": fence})
        jobs = [job for row in rows if (job := to_job(row)).queue in call.queues]
        if jobs:
            # The answer to the commit was lost, and these would wait for their lease.
            return jobs[: call.limit] if fence in call.lost else jobs
    tally = Tally()
    some, ripe = yield from _found(call, now)
    if ripe:
        call.step.full = yield from promote(ripe, tally, now)
        if tally.lanes:
            yield from settle_all(tally, now)
    room = Room(call.most_bytes)
    picked = yield from _picked(call, some, room)
    if call.step.passed and len(picked) < call.limit:
        yield from look_again(call.step, tally, now)
        room = Room(call.most_bytes)
        picked = yield from _picked(call, list(call.queues), room)
    count(picked, tally)
    claimed: list[Job] = []
    if picked:
        terms = Terms(one((yield call.fence)), now + call.lease, call.worker, now)
        claimed = [to_claimed(row, queue, *terms) for queue, row in picked]
        special = needs_more(claimed)
        if special:
            picked, claimed = yield from _in_company(picked, claimed, terms, tally, room)
        fence = claimed[0].fence
        call.tried.append(fence)
        values = {"fence": fence, "until": terms.until, "worker": terms.worker, "now": now}
        yield Statement("claim", {"refs": [job.ref for job in claimed], **values})
        if special:
            yield from let_go_started(picked, claimed)
            yield from _leave_line(claimed)
    yield from conclude(tally, now)
    return claimed


def _in_company(
    picked: Sequence[tuple[str, Row]],
    claimed: Sequence[Job],
    terms: Terms,
    tally: Tally,
    room: Room,
) -> Operation[tuple[list[tuple[str, Row]], list[Job]]]:
    """The jobs of a claim with those that come along."""
    for queue in sorted({job.queue for job in claimed if job.spec.group and job.spec.lane}):
        # The clock before the lanes, as all who give out places: so they wait and do not lock.
        yield Statement("clock_of", {"queue": queue})
    rows, jobs = yield from with_company(picked, claimed, terms, tally, room)
    if len(jobs) > len(claimed):
        # The fence was taken before these were locked: it could be below one that they had.
        fence = one((yield Statement("next_fence", {"now": terms.now})))
        jobs = [msgspec.structs.replace(job, fence=fence) for job in jobs]
    return rows, jobs


def _leave_line(claimed: Sequence[Job]) -> Operation[None]:
    turns: list[Row] = [(job.id,) for job in claimed if is_special(job.spec)]
    if turns:
        yield Bulk("start_turns", turns)
    yield from note_turns(claimed)


def _picked(call: Claim, queues: Sequence[str], room: Room) -> Operation[list[tuple[str, Row]]]:
    """Rows of the claim columns, each with its queue, in the order in which they go."""
    paused = {name for (name,) in (yield PAUSED)}
    picked: list[tuple[str, Row]] = []
    for queue in queues:
        number = min(call.queues[queue], call.limit - len(picked))
        if number <= 0 or queue in paused or room.is_full:
            continue
        after = call.spots.get(queue)
        found = yield _pick(queue, number, after)
        if not found and after is not None:
            found = yield _pick(queue, number, None)
        rows = yield from with_specs(room.fill(found))
        picked += [(queue, row) for row in rows]
        if rows or not found:
            call.ends[queue] = _end(rows[-1]) if rows else None
    return picked


def _end(row: Row) -> Spot | None:
    """Where a claim ended; a job that was put to the front says nothing about the line."""
    return Spot(row[RANK], row[-1]) if row[-1] > 0 else None
