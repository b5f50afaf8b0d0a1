"""Holding leases, all in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ...core.model import Lease
from ...core.states import State
from ..sql.operation import Operation, Statement
from ..sql.renewal import Renewed
from ..sql.rows import Locked


def foreseen(leases: Sequence[Lease]) -> Sequence[Statement]:
    """What `renew` asks for before it knows the time."""
    return [_lock(leases)]


def _lock(leases: Sequence[Lease]) -> Statement:
    return Statement("lock_live", {"ids": sorted({each.id for each in leases})})


def renew(leases: Sequence[Lease], lease: int, now: int) -> Operation[Renewed]:
    asked = {(each.id, each.fence) for each in leases}
    free = [Locked._make(row) for row in (yield _lock(leases))]
    held = [job.id for job in free if _is_held(job, asked)]
    if held:
        yield Statement("renew", {"until": now + lease, "ids": held})
    found = {job.id for job in free}
    others = [each.id for each in leases if each.id not in found]
    doubted: list[str] = []
    if others:
        for *row, late in (yield Statement("live", {"ids": others, "now": now})):
            if _is_held(Locked._make(row), asked):
                (doubted if late else held).append(row[0])
    return Renewed(frozenset(held), frozenset(doubted))


def _is_held(job: Locked, asked: AbstractSet[tuple[str, int]]) -> bool:
    return job.state == State.ACTIVE and (job.id, job.fence) in asked
