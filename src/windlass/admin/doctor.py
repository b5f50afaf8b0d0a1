"""An audit of a live store: what is wrong in it, and what could go wrong. Writes nothing.

`examine` looks, a bounded number of jobs at a time; `diagnose` is a pure function of what it found.
While workers go on, things change between two looks: so only what is long overdue counts as wrong,
and counts are only compared where nothing moved meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, get_args

import msgspec

from ..core.clock import Clock
from ..core.model import Job, JobQuery, QueueStats
from ..core.states import FINISHED, RESCHEDULABLE, State
from ..stores.contract import Store
from .attention import Situation, attention
from .leading import leaders_of
from .moment import span

Kind = Literal["lease", "dependent", "counter", "clock", "risk", "attention"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

OVERDUE_MS: Final = 60_000
"""What an upkeep that works has long seen to."""

CLOCK_MS: Final = 5_000
MOST: Final = 20_000
"""The most jobs of a kind that are looked at."""

BY_QUEUE: Final = RESCHEDULABLE
"""The states whose jobs every store can list for one queue without a look at the others."""

PAGE: Final = 1_000
NAMED: Final = 3


class Finding(msgspec.Struct, frozen=True):
    """One thing; a fault is wrong now, a risk could become so."""

    kind: Kind
    is_fault: bool
    text: str


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """What one examination saw."""

    now: int
    offset: int
    """how far the clock of this machine is ahead of the store's, in milliseconds"""
    situation: Situation
    active: Sequence[Job] = ()
    blocked: Sequence[Job] = ()
    parents: Mapping[str, Job] = {}
    """those that blocked jobs wait for, as far as they exist"""
    counted: Mapping[str, Mapping[State, int]] = {}
    """by listing them: of queues that stood still meanwhile, in states that were counted"""
    risks: Sequence[str] = ()


async def examine(store: Store, clock: Clock, most: int = MOST) -> Chart:
    """Look at a store; the more jobs there are the longer it takes, up to `most` of each kind."""
    before = clock()
    now = await store.now()
    offset = (before + clock()) // 2 - now
    queues = await store.queues()
    blocked = await _listed(store, most, State.BLOCKED)
    waited_for = sorted({id for job in blocked for id in job.waits_for})
    parents: dict[str, Job] = {}
    for start in range(0, len(waited_for), PAGE):
        parents |= await store.get(waited_for[start : start + PAGE])
    return Chart(
        now=now,
        offset=offset,
        situation=Situation(
            now=now,
            queues=queues,
            oldest=await store.oldest([queue.name for queue in queues]),
            workers=await store.workers(),
            schedules=await store.schedules(),
            leaders=await leaders_of(store),
        ),
        active=await _listed(store, most, State.ACTIVE),
        blocked=blocked,
        parents=parents,
        counted=await _counted(store, queues, most),
        risks=await store.risks(),
    )


def diagnose(chart: Chart) -> Sequence[Finding]:
    """What is wrong first, then what could go wrong."""
    found = [*_leases(chart), *_dependents(chart), *_counters(chart)]
    found += [*_clock(chart), *(Finding("risk", False, text) for text in chart.risks)]
    return found + [Finding("attention", False, each.text) for each in attention(chart.situation)]


def _leases(chart: Chart) -> Iterator[Finding]:
    late = [job for job in chart.active if (job.lease_until or chart.now) < chart.now - OVERDUE_MS]
    if late:
        longest = span(chart.now - min(job.lease_until or chart.now for job in late))
        text = (
            f"{_jobs(late)} active though the lease ran out, the first one {longest} ago: nobody "
            f"rescues them, so start a worker or a server ({_names(late)})."
        )
        yield Finding("lease", True, text)


def _dependents(chart: Chart) -> Iterator[Finding]:
    stuck = [job for job in chart.blocked if job.waits_for and _is_stuck(chart, job)]
    if stuck:
        text = (
            f"{_jobs(stuck)} blocked though all that they depend on is over: nobody unblocks them, "
            f"so start a worker or a server ({_names(stuck)})."
        )
        yield Finding("dependent", True, text)


def _is_stuck(chart: Chart, job: Job) -> bool:
    return all(_has_long_ended(chart, chart.parents.get(id)) for id in job.waits_for)


def _has_long_ended(chart: Chart, parent: Job | None) -> bool:
    if parent is None:
        return True
    ended = parent.finished_at
    return parent.state in FINISHED and ended is not None and ended < chart.now - OVERDUE_MS


def _counters(chart: Chart) -> Iterator[Finding]:
    for queue in chart.situation.queues:
        listed = chart.counted.get(queue.name)
        if listed is None:
            continue
        for state, found in listed.items():
            told = queue.counts.get(state, 0)
            if told != found:
                text = f"The queue {queue.name} says {told:,} {state} jobs and has {found:,}."
                yield Finding("counter", True, text)


def _clock(chart: Chart) -> Iterator[Finding]:
    if abs(chart.offset) > CLOCK_MS:
        where = "ahead of" if chart.offset > 0 else "behind"
        text = (
            f"The clock of this machine is {span(abs(chart.offset))} {where} the store's, which "
            "decides: times that are enqueued from here as moments are off by that."
        )
        yield Finding("clock", False, text)


def _jobs(jobs: Sequence[Job]) -> str:
    return "1 job is" if len(jobs) == 1 else f"{len(jobs):,} jobs are"


def _names(jobs: Sequence[Job]) -> str:
    more = ", …" if len(jobs) > NAMED else ""
    return ", ".join(job.id for job in jobs[:NAMED]) + more


async def _listed(store: Store, most: int, *states: State, queue: str | None = None) -> list[Job]:
    jobs: list[Job] = []
    query = JobQuery(states=states, queue=queue, limit=PAGE, brief=True)
    while True:
        page = await store.find(query)
        jobs += page.jobs
        if page.cursor is None or len(jobs) >= most:
            return jobs
        query = msgspec.structs.replace(query, cursor=page.cursor)


async def _counted(
    store: Store, queues: Sequence[QueueStats], most: int
) -> Mapping[str, Mapping[State, int]]:
    """By state, all queues in one walk: a store that keeps jobs by state would look at all of them
    for each queue. Not the queues whose counts have changed meanwhile."""
    counted: dict[str, dict[State, int]] = {queue.name: {} for queue in queues}
    left = most
    for state in State:
        told = {queue.name: queue.counts.get(state, 0) for queue in queues}
        if sum(told.values()) <= left:
            left -= sum(told.values())
            found = Counter(job.queue for job in await _listed(store, most, state))
            for name in told:
                counted[name][state] = found[name]
        elif state in BY_QUEUE:
            for name, number in told.items():
                if 0 < number <= left:
                    left -= number
                    jobs = await _listed(store, most, state, queue=name)
                    counted[name][state] = len(jobs)
    after = {queue.name: queue.counts for queue in await store.queues()}
    return {
        queue.name: counted[queue.name] for queue in queues if after.get(queue.name) == queue.counts
    }
