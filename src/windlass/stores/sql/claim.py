"""Handing jobs to workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...core.model import Job
from ...core.states import State
from ..contract import PROMOTE_BATCH
from .operation import Bulk, Operation, Row, Statement, one
from .rows import json_array, to_claimed
from .tally import Tally


def claim(
    queues: Mapping[str, int], limit: int, lease: int, worker: str, now: int
) -> Operation[Sequence[Job]]:
    tally = Tally()
    yield from promote(queues, tally, now)
    paused = {name for (name,) in (yield Statement("paused"))}
    picked: list[tuple[str, Row]] = []
    for queue, most in queues.items():
        room = min(most, limit - len(picked))
        if room <= 0 or queue in paused:
            continue
        rows = yield Statement("pick", {"queue": queue, "limit": room})
        picked += [(queue, row) for row in rows]
        tally.move(queue, State.PENDING, State.ACTIVE, len(rows))
    claimed: list[Job] = []
    if picked:
        fence, until = one((yield Statement("next_fence"))), now + lease
        claimed = [to_claimed(row, queue, fence, until, worker, now) for queue, row in picked]
        refs = json_array([job.ref for job in claimed])
        values = {"refs": refs, "fence": fence, "until": until, "worker": worker, "now": now}
        yield Statement("claim", values)
    yield from tally.write()
    return claimed


def promote(queues: Iterable[str], tally: Tally, now: int) -> Operation[None]:
    """Make due jobs pending, in the order of their time, at the end of the line."""
    due: list[tuple[int, int, str, str, str]] = []
    for queue in queues:
        room = PROMOTE_BATCH - len(due)
        rows = yield Statement("due", {"queue": queue, "now": now, "limit": room})
        due += [(*row, queue) for row in rows]
    if not due:
        return
    due.sort()
    place = one((yield Statement("next_place", {"number": len(due)}))) - len(due)
    yield Bulk("promote", [(place + n, id) for n, (_, _, id, _, _) in enumerate(due, 1)])
    for _, _, _, state, queue in due:
        tally.move(queue, state, State.PENDING)
