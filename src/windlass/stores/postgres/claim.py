"""Handing jobs to workers, in one statement if it can be.

It cannot if some are due to become pending first, or some are of lanes: a lane may count them, and
let others come along. These are transactions of their own, each of which holds lanes before jobs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from ...core.lane import Lane
from ...core.model import Job
from ..contract import PROMOTE_BATCH
from ..sql import claim as shared
from ..sql import lanes
from ..sql.operation import Operation, Row, Statement
from ..sql.rows import json_array, to_claimed
from ..sql.tally import Key, Tally
from .marks import Marks, Ranges

ID, SPEC, RANK, QUEUE, FENCE, NOW = 1, 2, 3, 13, 14, 15
DUE, LANED, LARGE, PLACE, PAGES = 16, 17, 18, 19, 20
"""Where a row of `claim.sql` has them; it begins with the claim columns."""


class Asked(NamedTuple):
    """What a worker asks for."""

    queues: Mapping[str, int]
    limit: int
    lease: int
    worker: str
    most_bytes: int

    def less(self, jobs: Sequence[Job]) -> Asked:
        """What is left to ask for with these; of no queue if it is enough."""
        given = Counter([job.queue for job in jobs])
        left = self.limit - len(jobs)
        caps = {name: most - given[name] for name, most in self.queues.items()}
        queues = {name: most for name, most in caps.items() if most > 0 and left > 0}
        return self._replace(queues=queues, limit=left)


class Claimed(NamedTuple):
    """What it gets, or why it gets nothing yet."""

    jobs: Sequence[Job] = ()
    due: bool = False
    laned: bool = False
    large: bool = False


def claim(
    asked: Asked, now: int | None, marks: Marks, *, look: bool, within: bool = False
) -> Operation[Claimed]:
    """Claim without a transaction; `look` for due jobs.

    If they are too large, nothing is given, or what is `within` the bytes asked for.
    """
    ranges = marks.ranges(asked.queues) if marks.hold and not within else None
    began = monotonic()
    rows = yield from _claim(asked, now, look=look, within=within, ranges=ranges)
    due, laned, large = rows[0][DUE : LARGE + 1]
    if not (within or due):
        if ranges is None:
            marks.took(monotonic() - began, rows[0][PAGES] or 0, len(rows))
        _note(marks, rows)
    if due or laned or large:
        return Claimed((), due, laned, large)
    return Claimed(_jobs(rows, asked))


def _note(marks: Marks, rows: Sequence[Row]) -> None:
    """Remember how far the claim came in each line."""
    first, last = rows[0], rows[-1]
    if first[ID] is None:
        return
    if (first[QUEUE], first[RANK]) == (last[QUEUE], last[RANK]):
        rows = rows[-1:]
    for row in rows:
        marks.note(row[QUEUE], row[RANK], row[PLACE])


def promote(queues: Iterable[str], now: int) -> Operation[bool]:
    """Let due jobs become pending; whether there may be more of them."""
    tally = Tally()
    # In one order everywhere, as all who hold several lanes do.
    yield from shared.promote(sorted(queues), tally, now)
    number = -sum([n for (_, state), n in tally.items() if n < 0])
    yield from lanes.conclude(tally, now)
    return number >= PROMOTE_BATCH


def claim_from_lanes(asked: Asked, now: int) -> Operation[Sequence[Job]]:
    """Claim in a transaction: lanes count what they give, and others may come along.

    Of no lane that was not seen before the first was held. So it may find nothing where there is
    something by now.
    """
    tally = Tally()
    seen = yield from _look_ahead(asked.queues, tally, now)
    rows = yield from _claim(asked, now, look=False, lanes=seen)
    jobs = _jobs(rows, asked)
    counted = [n for n, job in enumerate(jobs) if _lane_of(job) in tally.lanes]
    company: Mapping[str, Sequence[Job]] = {}
    if counted:
        taken = sum([len(row[SPEC]) for row in rows])
        firsts = [(rows[n], jobs[n]) for n in counted]
        company = yield from _company(firsts, asked, taken, tally, now)
    yield from lanes.conclude(tally, now)
    return [each for job in jobs for each in (job, *company.get(job.id, ()))]


def _lane_of(job: Job) -> Key | None:
    return None if job.spec.lane is None else (job.queue, job.spec.lane.name)


def _look_ahead(queues: Mapping[str, int], tally: Tally, now: int) -> Operation[Sequence[Key]]:
    """The lanes that the claim may meet. Of these only those are held that count."""
    params = {"queues": list(queues), "mosts": list(queues.values())}
    rows = yield Statement("lanes_ahead", params)
    for queue, name, record in rows:
        limits = lanes.limits_in(record, Lane(name))
        if limits.counts_starts:
            tally.lane(queue, limits)
    yield from lanes.load(tally.lanes, now)
    return [(queue, name) for queue, name, _ in rows]


def _company(
    claimed: Sequence[tuple[Row, Job]], asked: Asked, taken: int, tally: Tally, now: int
) -> Operation[Mapping[str, Sequence[Job]]]:
    """Let lanes count what was claimed; the jobs that come along, by the one before them."""
    call = shared.Claim(claimed[0][0][FENCE], now + asked.lease, asked.worker, now)
    picked = [(row[QUEUE], row) for row, _ in claimed]
    firsts = {job.id: job for _, job in claimed}
    # What was claimed of no lane that counts is not among these, and takes of the room as well.
    room = shared.Room(asked.most_bytes - taken)
    _, together = yield from shared.with_company(picked, [*firsts.values()], call, tally, room)
    company: defaultdict[str, list[Job]] = defaultdict(list)
    first = ""
    for job in together:
        if job.id in firsts:
            first = job.id
        else:
            company[first].append(job)
    along = [job.id for jobs in company.values() for job in jobs]
    if along:
        yield Statement("claim_along", {"ids": json_array(along), **call._asdict()})
    return company


def _claim(
    asked: Asked,
    now: int | None,
    *,
    look: bool,
    within: bool = False,
    lanes: Sequence[Key] | None = None,
    ranges: Ranges | None = None,
) -> Operation[Sequence[Row]]:
    """The rows of `claim.sql`; without `lanes` as a statement that stands alone."""
    params = {
        "queues": list(asked.queues),
        "mosts": list(asked.queues.values()),
        "limit": asked.limit,
        "lease": asked.lease,
        "worker": asked.worker,
        "most_bytes": asked.most_bytes,
        "look": look,
        "alone": lanes is None,
        "now": now,
    }
    rows: Sequence[Row]
    if ranges is not None:
        rows = yield Statement("claim_marked", {**params, **ranges._asdict()})
        return rows
    if lanes is None:
        rows = yield Statement("claim_within" if within else "claim", params)
        return rows
    queues, names = [queue for queue, _ in lanes], [name for _, name in lanes]
    rows = yield Statement("claim_of_lanes", {**params, "lane_queues": queues, "lane_names": names})
    return rows


def _jobs(rows: Sequence[Row], asked: Asked) -> Sequence[Job]:
    if rows[0][ID] is None:
        return []
    fence, now = rows[0][FENCE], rows[0][NOW]
    until = now + asked.lease
    return [to_claimed(row, row[QUEUE], fence, until, asked.worker, now) for row in rows]
