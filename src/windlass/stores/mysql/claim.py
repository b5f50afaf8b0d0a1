"""Handing jobs to workers, in two round trips where one queue has enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ...core.model import Job
from ...core.states import State
from ..sql.claim import promote
from ..sql.operation import Operation, Row, Statement, one
from ..sql.rows import CLAIM_COLUMNS, to_claimed, to_job
from ..sql.tally import Tally
from .horizon import Spot

PAUSED: Final = Statement("paused")
FENCE: Final = Statement("next_fence")
RANK: Final = CLAIM_COLUMNS.index("rank")


class Claim(NamedTuple):
    """One call of `claim`, which may take several tries."""

    queues: Mapping[str, int]
    limit: int
    lease: int
    worker: str
    spots: Mapping[str, Spot]
    """where claims from these queues go on"""
    ends: dict[str, Spot | None]
    """and where this one ended; None where there was less than asked for"""
    tried: list[int]
    """the fences of tries whose end is not known"""


def foreseen(call: Claim) -> Sequence[Statement]:
    """What `claim` asks for before it knows the time."""
    soonest = [Statement("soonest", {"queue": queue}) for queue in call.queues]
    first = [
        _pick(queue, min(most, call.limit), call.spots.get(queue))
        for queue, most in [*call.queues.items()][:1]
    ]
    # The fence last: taken before its rows are locked, it could be below that of a quicker claim.
    return [*soonest, PAUSED, *first, FENCE]


def _pick(queue: str, limit: int, after: Spot | None) -> Statement:
    if after is None:
        return Statement("pick", {"queue": queue, "limit": max(limit, 0)})
    values = {"queue": queue, "rank": after.rank, "place": after.place, "limit": max(limit, 0)}
    return Statement("pick_after", values)


def claim(call: Claim, now: int) -> Operation[Sequence[Job]]:
    queues = call.queues
    for fence in call.tried:
        rows = yield Statement("claimed_before", {"fence": fence})
        if rows:
            # The answer to the commit was lost, and these would wait for their lease.
            return [to_job(row) for row in rows]
    tally = Tally()
    ripe = []
    for queue in queues:
        times = (yield Statement("soonest", {"queue": queue}))[0]
        if any(due is not None and due <= now for due in times):
            ripe.append(queue)
    if ripe:
        yield from promote(ripe, tally, now)
    picked = yield from _picked(call, tally)
    claimed: list[Job] = []
    if picked:
        fence, until, worker = one((yield FENCE)), now + call.lease, call.worker
        call.tried.append(fence)
        claimed = [to_claimed(row, queue, fence, until, worker, now) for queue, row in picked]
        refs = [job.ref for job in claimed]
        values = {"refs": refs, "fence": fence, "until": until, "worker": worker, "now": now}
        yield Statement("claim", values)
    yield from tally.write()
    return claimed


def _picked(call: Claim, tally: Tally) -> Operation[list[tuple[str, Row]]]:
    """Rows of the claim columns, each with its queue, in the order in which they go."""
    paused = {name for (name,) in (yield PAUSED)}
    picked: list[tuple[str, Row]] = []
    for queue, most in call.queues.items():
        room = min(most, call.limit - len(picked))
        if room <= 0 or queue in paused:
            continue
        after = call.spots.get(queue)
        rows = yield _pick(queue, room, after)
        if not rows and after is not None:
            rows = yield _pick(queue, room, None)
        picked += [(queue, row) for row in rows]
        call.ends[queue] = _end(rows[-1]) if len(rows) == room else None
        tally.move(queue, State.PENDING, State.ACTIVE, len(rows))
    return picked


def _end(row: Row) -> Spot | None:
    """Where a claim ended; a job that was put to the front says nothing about the line."""
    return Spot(row[RANK], row[-1]) if row[-1] > 0 else None
