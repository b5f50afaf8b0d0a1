"""Accepting jobs that have unique keys, some of which may be held.

What becomes of a job whose key is held is decided here, under the lock of the holder, and before
anything of the job is stored. All others go the way of every job. A call is seen to in parts: of
those that want one key, or have one id, each must find what the one before it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ...core.model import NewJob, Receipt
from ...core.schedule import following
from ...core.states import LIVE, State
from ...core.unique import Clash, clash
from . import windows
from .births import Accept, Family, bear, family_of, find_parents
from .line import Mover, first_state, is_special, moved, movers
from .operation import Bulk, Operation, Row, Statement, one
from .rows import Locked, json_array, to_replace
from .tally import Tally


class Turn(NamedTuple):
    """A job of a call, and what was decided about it."""

    job: NewJob
    replaces: Locked | None = None
    refused: str | None = None
    """the job that stands for it"""

    @property
    def is_stored(self) -> bool:
        return self.replaces is None and self.refused is None


def insert(
    jobs: Sequence[NewJob], now: int, accept: Accept, tally: Tally
) -> Operation[Sequence[Receipt]]:
    """Store jobs; `UnknownJob`, before anything is written, if a parent is not there."""
    # On a connection that is not ours, nothing may be read before the first write: see
    # stores/sqlite/queries/arrive.sql.
    yield Statement("next_place", {"number": 0})
    family = yield from family_of(jobs)
    receipts: list[Receipt] = []
    for part in _parts(jobs):
        receipts += yield from _see_to(part, family, now, accept, tally)
    return receipts


def _parts(jobs: Sequence[NewJob]) -> Iterator[Sequence[NewJob]]:
    """The jobs in their order, in as few parts as can be."""
    # Who is only ever refused finds by the index of keys what those before it did.
    by_key = any([is_choosy(job) for job in jobs])
    part: list[NewJob] = []
    taken: set[tuple[str, bool]] = set()
    for job in jobs:
        mine = {(job.id, False)}
        if by_key and job.unique is not None:
            mine.add((job.unique, True))
        if not taken.isdisjoint(mine):
            yield part
            part, taken = [], set()
        part.append(job)
        taken |= mine
    yield part


def is_choosy(job: NewJob) -> bool:
    """Whether more may become of it than to be stored or refused, or its key stay when it goes."""
    return job.unique is not None and (job.conflict != "reject" or job.spec.unique_for > 0)


def _see_to(
    jobs: Sequence[NewJob], family: Family, now: int, accept: Accept, tally: Tally
) -> Operation[list[Receipt]]:
    turns = yield from _decide(jobs, family, now)
    receipts: list[Receipt] = []
    for run in _runs(turns):
        if run[0].is_stored:
            receipts += yield from _store([turn.job for turn in run], family, now, accept)
        else:
            receipts += yield from _replace(run, now, tally)
        family.coming.update(turn.job.id for turn in run)
    for n, (job, turn, receipt) in enumerate(zip(jobs, turns, receipts, strict=True)):
        if turn.is_stored and job.conflict != "reject" and receipt.id != job.id:
            # Somebody got the key in between: now there is a holder to decide about.
            [receipts[n]] = yield from _see_to([job], family, now, accept, tally)
    return receipts


def _runs(turns: Sequence[Turn]) -> Iterator[list[Turn]]:
    """Neighbours to be stored, or not: so all get their places in the order of the call."""
    run: list[Turn] = []
    for turn in turns:
        if run and run[-1].is_stored is not turn.is_stored:
            yield run
            run = []
        run.append(turn)
    if run:
        yield run


def _decide(jobs: Sequence[NewJob], family: Family, now: int) -> Operation[list[Turn]]:
    """What becomes of each; a holder that one is to follow has let go of the key by then."""
    by_window = yield from windows.held((job.unique for job in jobs), now)
    doubtful = [job for job in jobs if job.unique in by_window or job.conflict != "reject"]
    doubtful = [job for job in doubtful if job.unique is not None]
    if not doubtful:
        return [Turn(job) for job in jobs]
    holders, known = yield from _holders(doubtful, by_window)
    turns: list[Turn] = []
    left: list[Locked] = []
    for job in jobs:
        holder = holders.get(job.unique or "")
        # Of an id that the call has stored already nothing may be kept; it counts all the same.
        if holder is None or job.id in known or job.id in family.born:
            turns.append(Turn(job))
            continue
        job_held = known.get(holder)
        match clash(job.conflict, job_held):
            case Clash.REPLACES:
                turns.append(Turn(job, replaces=job_held))
            case Clash.FOLLOWS if job_held is not None:
                turns.append(Turn(following(job, holder)))
                family.known[holder] = job_held
                left.append(job_held)
            case _:
                turns.append(Turn(job, refused=holder))
    yield from windows.let_go(job.id for job in left if job.unique is not None)
    yield from windows.free(job.id for job in left)
    return turns


def _holders(
    jobs: Sequence[NewJob], by_window: dict[str, str]
) -> Operation[tuple[dict[str, str], dict[str, Locked]]]:
    """Who holds the keys, and all that there is under these jobs' ids and the holders', locked."""
    keys = json_array(sorted({job.unique for job in jobs if job.unique is not None}))
    while True:
        live = dict((yield Statement("holders", {"keys": keys})))
        holders = by_window | live
        known = yield from find_parents({job.id for job in jobs} | {*holders.values()})
        # A holder that ended while we waited for its lock holds nothing: ask again.
        if all(id in known and known[id].state in LIVE for id in live.values()):
            return holders, known


def _store(
    jobs: Sequence[NewJob], family: Family, now: int, accept: Accept
) -> Operation[Sequence[Receipt]]:
    def with_windows(
        jobs: Sequence[NewJob], now: int, blocked: AbstractSet[str]
    ) -> Operation[Sequence[Receipt]]:
        receipts = yield from accept(jobs, now, blocked)
        new = [job for job, receipt in zip(jobs, receipts, strict=True) if not receipt.duplicate]
        timed = [job for job in new if job.unique is not None and job.spec.unique_for > 0]
        yield from windows.hold(((job.id, job) for job in timed), now)
        yield from windows.let_go(job.id for job in timed)
        return receipts

    if family.born or any([job.spec.parents for job in jobs]):
        return (yield from bear(jobs, family, now, with_windows))
    return (yield from with_windows(jobs, now, frozenset()))


def _replace(turns: Sequence[Turn], now: int, tally: Tally) -> Operation[list[Receipt]]:
    """Let holders do what new jobs were to do, as if they had come now; the others are refused."""
    changed = [(turn.job, turn.replaces) for turn in turns if turn.replaces is not None]
    special = any([is_special(new.spec) or old.special is not None for new, old in changed])
    # Of several that leave the line and come back, each finds the next one where it was.
    for some in [[each] for each in changed] if special else [changed]:
        if some:
            yield from _put(some, now, tally)
    return [
        Receipt(turn.replaces.id if turn.replaces else turn.refused or "", duplicate=True)
        for turn in turns
    ]


def _put(changed: Sequence[tuple[NewJob, Locked]], now: int, tally: Tally) -> Operation[None]:
    number = len(changed)
    place = one((yield Statement("next_place", {"number": number}))) - number
    rows: list[Row] = []
    new: list[Mover] = []
    for n, (job, old) in enumerate(changed, 1):
        # Blocked by others, and not in its lane.
        waits = old.state == State.BLOCKED and old.slot is None
        state = State.BLOCKED if waits else first_state(job, now)
        rows.append(to_replace(old.id, job, state, None if waits else place + n, now))
        tally.move(old.queue, old.state, state)
        if is_special(job.spec):
            new.append(Mover(old.id, old.queue, job.spec, state))
    yield from moved(movers((old, None) for _, old in changed), tally)
    # First, for an engine may have both kinds of key in one index.
    yield from windows.free(old.id for _, old in changed)
    yield Bulk("replace", rows)
    yield from windows.hold(((old.id, job) for job, old in changed), now)
    yield from moved(new, tally, new=True)
