"""Handing jobs to workers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ...core.model import Job, decode_spec
from ...core.states import State
from ...limits.admission import LaneState, after_starts
from ..contract import PROMOTE_BATCH
from . import groups, lanes
from .lanes import HAS, WAITS, conclude, settle_all
from .line import Mover, moved, ripen
from .operation import Bulk, Operation, Row, Statement, one
from .promotion import Step
from .rows import CLAIM_COLUMNS, json_array, to_claimed
from .tally import Key, Tally
from .windows import let_go

KEY: Final = CLAIM_COLUMNS.index("unique_key")
NUMBER: Final = CLAIM_COLUMNS.index("number")
SPEC: Final = CLAIM_COLUMNS.index("spec")
SIZE: Final = len(CLAIM_COLUMNS)
"""Where a row of `pick` has the size of its spec: behind the claim columns."""


class Claim(NamedTuple):
    """What all jobs of one claim share."""

    fence: int
    until: int
    worker: str
    now: int


def claim(
    queues: Mapping[str, int],
    limit: int,
    lease: int,
    worker: str,
    most_bytes: int,
    step: Step,
    now: int,
) -> Operation[Sequence[Job]]:
    tally = Tally()
    looked = [queue for queue in queues if queue not in step.passed]
    step.full = yield from promote(looked, tally, now)
    if tally.lanes:
        yield from settle_all(tally, now)
    paused = {name for (name,) in (yield Statement("paused"))}
    queues = {queue: most for queue, most in queues.items() if queue not in paused}
    room = Room(most_bytes)
    picked = yield from _picked(queues, limit, room)
    if step.passed and len(picked) < limit:
        yield from look_again(step, tally, now)
        room = Room(most_bytes)
        picked = yield from _picked(queues, limit, room)
    count(picked, tally)
    claimed: list[Job] = []
    if picked:
        call = Claim(one((yield Statement("next_fence", {"now": now}))), now + lease, worker, now)
        claimed = [to_claimed(row, queue, *call) for queue, row in picked]
        special = needs_more(claimed)
        if special:
            picked, claimed = yield from with_company(picked, claimed, call, tally, room)
        refs = json_array([job.ref for job in claimed])
        values = {"refs": refs, "fence": call.fence, "until": call.until, "worker": worker}
        yield Statement("claim", {**values, "now": now})
        if special:
            yield from let_go_started(picked, claimed)
            yield from note_turns(claimed)
    yield from conclude(tally, now)
    return claimed


def _picked(queues: Mapping[str, int], limit: int, room: Room) -> Operation[list[tuple[str, Row]]]:
    """Rows of the claim columns, each with its queue, in the order in which they go."""
    picked: list[tuple[str, Row]] = []
    for queue, most in queues.items():
        number = min(most, limit - len(picked))
        if number <= 0 or room.is_full:
            continue
        found = yield Statement("pick", {"queue": queue, "limit": number})
        rows = yield from with_specs(room.fill(found))
        picked += [(queue, row) for row in rows]
    return picked


def look_again(step: Step, tally: Tally, now: int) -> Operation[None]:
    """A claim runs short: look for due jobs where it has passed by."""
    step.full |= yield from promote(sorted(step.passed), tally, now)
    step.passed = frozenset()
    if tally.lanes:
        yield from settle_all(tally, now)


def count(picked: Sequence[tuple[str, Row]], tally: Tally) -> None:
    """Jobs of these queues become active."""
    for queue, number in Counter(queue for queue, _ in picked).items():
        tally.move(queue, State.PENDING, State.ACTIVE, number)


class Room:
    """The bytes that a claim has room for."""

    def __init__(self, most_bytes: int) -> None:
        self.left = most_bytes
        self.is_empty = True
        """whether even a job that is too large is to go in"""
        self.is_full = False
        """what it was given to fill it did not go in whole"""

    def fill(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The first of these rows, as many as there is room for; one, if there was none before."""
        total = sum([row[SIZE] for row in rows])
        if total <= self.left:
            self.left -= total
            self.is_empty = self.is_empty and not rows
            return rows
        taken: list[Row] = []
        for row in rows:
            if row[SIZE] > self.left and not self.is_empty:
                break
            self.left -= row[SIZE]
            self.is_empty = False
            taken.append(row)
        self.is_full = len(taken) < len(rows)
        return taken


def with_specs(rows: Sequence[Row]) -> Operation[Sequence[Row]]:
    """Rows with the specs that were too large to be read before it was known who gets them."""
    missing = [row[NUMBER] for row in rows if row[SPEC] is None]
    if not missing:
        return rows
    specs = dict((yield Statement("specs", {"refs": json_array(missing)})))
    return [
        row if row[SPEC] is not None else (*row[:SPEC], specs.get(row[NUMBER]), *row[SPEC + 1 :])
        for row in rows
    ]


def needs_more(claimed: Sequence[Job]) -> bool:
    """Whether more is to be done for some of these than to hand them out."""
    specs = [job.spec for job in claimed]
    return any([spec.lane is not None or spec.group or spec.unique_for < 0 for spec in specs])


def with_company(
    picked: Sequence[tuple[str, Row]], claimed: Sequence[Job], call: Claim, tally: Tally, room: Room
) -> Operation[tuple[list[tuple[str, Row]], list[Job]]]:
    """The jobs of a claim, each followed by those that come along with it, as far as there is room
    for them; lanes count starts."""
    for job in claimed:
        if job.spec.lane is not None:
            tally.lane(job.queue, job.spec.lane)
    yield from lanes.load(tally.lanes, call.now)
    taken: Counter[Key] = Counter()
    room.is_empty, most_bytes = False, room.left
    rows: list[tuple[str, Row]] = []
    jobs: list[Job] = []
    joined: list[Row] = []
    for (queue, row), job in zip(picked, claimed, strict=True):
        rows.append((queue, row))
        jobs.append(job)
        if job.spec.lane is None:
            continue
        touch = tally.lane(queue, job.spec.lane)
        limits = lanes.limits_of(touch)
        company: Sequence[Row] = ()
        if limits.size:
            key = (queue, limits.name)
            skip, most = taken[key], limits.size - 1
            where = {"queue": queue, "lane": limits.name, "limit": skip + most}
            found = (yield Statement("along", {**where, "room": most_bytes}))[skip:]
            company = yield from with_specs(room.fill(found))
            taken[key] += len(company)
        for each in company:
            along = to_claimed(each, queue, *call)
            rows.append((queue, each))
            jobs.append(along)
            joined.append((limits.name, along.spec.group or None, None, HAS, None, along.id))
            tally.move(queue, each[-1], State.ACTIVE)
        if limits.counts_starts:
            number = 1 + len(company)
            touch.state = after_starts(limits, touch.state or LaneState(), call.now, number)
            touch.changed = True
    if joined:
        yield Bulk("join", joined)
    return rows, jobs


def note_turns(claimed: Sequence[Job]) -> Operation[None]:
    """Let the clocks of queues go up to the places of what they gave."""
    turns: defaultdict[str, list[int]] = defaultdict(list)
    for job in claimed:
        if job.spec.group:
            turns[job.queue].append(job.ref)
    for queue in sorted(turns):
        yield from groups.handed_out(queue, turns[queue])


def let_go_started(picked: Sequence[tuple[str, Row]], claimed: Sequence[Job]) -> Operation[None]:
    """Take the keys off jobs that held them until they were started."""
    had = [row[KEY] is not None for _, row in picked]
    if any(had):
        now = zip(had, claimed, strict=True)
        yield from let_go(job.id for held, job in now if held and job.unique is None)


class Due(NamedTuple):
    """A job whose time has come; in the order of `due.sql`, and its queue."""

    due: int
    place: int
    id: str
    state: str
    slot: int | None
    special: bytes | None
    queue: str


def promote(queues: Iterable[str], tally: Tally, now: int) -> Operation[set[str]]:
    """Make due jobs pending, in the order of their time, at the end of the line.

    The queues that may have more of them than one call makes pending.
    """
    due: list[Due] = []
    full: set[str] = set()
    for queue in queues:
        room = PROMOTE_BATCH - len(due)
        if not room:
            break
        rows = yield Statement("due", {"queue": queue, "now": now, "limit": room})
        due += [Due._make((*row, queue)) for row in rows]
        if len(rows) == room:
            full.add(queue)
    if not due:
        return full
    due.sort(key=lambda job: job[:3])
    special = [_mover(job) for job in due if job.special is not None]
    tickets = [job for job in special if job.slot == WAITS]
    if tickets:
        due = [job for job in due if job.slot != WAITS]
        special = [job for job in special if job.slot != WAITS]
        yield from ripen(tickets, tally)
    place = one((yield Statement("next_place", {"number": len(due)}))) - len(due)
    if due:
        yield Bulk("promote", [(place + n, job.id) for n, job in enumerate(due, 1)])
    for job in due:
        tally.move(job.queue, job.state, State.PENDING)
    if special:
        yield from moved(special, tally)
    return full


def _mover(job: Due) -> Mover:
    spec = decode_spec(job.special or b"")
    return Mover(job.id, job.queue, spec, State.PENDING, job.slot)
