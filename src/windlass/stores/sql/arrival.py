"""The way in for new jobs that ask for more than to be run: each part of it is asked for once."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ...core.model import NewJob, Receipt
from . import births, clashes
from .births import Accept
from .lanes import conclude
from .line import Mover, first_state, is_special, moved
from .operation import Operation
from .tally import Tally


def is_plain(jobs: Sequence[NewJob]) -> bool:
    """Whether none of them has a key, parents, a lane or a group."""
    return not any(
        [
            job.unique is not None
            or job.spec.parents
            or job.spec.lane is not None
            or job.spec.group
            for job in jobs
        ]
    )


def insert(jobs: Sequence[NewJob], now: int, accept: Accept) -> Operation[Sequence[Receipt]]:
    """Store jobs of any kind. `accept` stores them as if they had no lane, group or window."""
    tally = Tally()
    if any([is_special(job.spec) for job in jobs]):
        accept = _joining(accept, tally)
    if any([job.unique is not None for job in jobs]):
        receipts = yield from clashes.insert(jobs, now, accept, tally)
    elif any([job.spec.parents for job in jobs]):
        receipts = yield from births.insert(jobs, now, accept)
    else:
        receipts = yield from accept(jobs, now, frozenset())
    yield from conclude(tally, now)
    return receipts


def _joining(accept: Accept, tally: Tally) -> Accept:
    def joining(
        jobs: Sequence[NewJob], now: int, blocked: AbstractSet[str]
    ) -> Operation[Sequence[Receipt]]:
        receipts = yield from accept(jobs, now, blocked)
        new = [
            Mover(job.id, job.queue, job.spec, first_state(job, now, blocked))
            for job, receipt in zip(jobs, receipts, strict=True)
            if not receipt.duplicate and is_special(job.spec)
        ]
        if new:
            yield from moved(new, tally, new=True)
        return receipts

    return joining
