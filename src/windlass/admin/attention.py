"""What needs a person's attention: a pure function of what looks at the store found.

The terminal view and the dashboard show the same list, by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, Literal

import msgspec

from ..core.cron import GRACE_MS
from ..core.model import QueueStats
from ..core.schedule import Schedule
from ..core.states import State
from ..core.workers import SERVER, UPKEEP, Term, WorkerInfo
from ..errors import InvalidOption
from .facts import served_by
from .moment import date, span

Kind = Literal["upkeep", "no_worker", "old", "dead", "failing", "cron", "paused"]

SETTLED_MS: Final = 30_000
"""When a worker has been there for so long, somebody has taken the lead, if anybody may."""

OLD_MS: Final = 5 * 60_000
"""A job that waits longer than this for a worker has been waiting for too long."""

RECENT_MS: Final = 3_600_000
"""What `Situation.recent` looks back."""

FAILING: Final = 0.2
"""The share of failed runs from which on a queue is failing, if they are `FEW` or more."""

FEW: Final = 10

MOST: Final = 10
"""Of one kind, so many are told one by one, the worst first; the others in one sentence."""

_TO_RUN: Final = (State.PENDING, State.RETRY, State.SCHEDULED)

LATE_MS: Final = 10_000
"""A leader that was killed has a successor by then."""


class Attention(msgspec.Struct, frozen=True):
    """One thing to look into; `kind` is one word of a fixed set, for programs."""

    kind: Kind
    text: str
    queue: str | None = None
    schedule: str | None = None


class Situation(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What was found; the parts may have been read one after the other."""

    now: int
    """by the store's clock"""
    queues: Sequence[QueueStats] = ()
    oldest: Mapping[str, int] = {}
    """as `Store.oldest` gives it"""
    workers: Sequence[WorkerInfo] = ()
    schedules: Sequence[Schedule] = ()
    leaders: Mapping[str, Term] | None = None
    """as `Store.leaders` gives it; None if that is not known"""
    recent: Mapping[str, Mapping[str, int]] = {}
    """by queue, what `core.stats` counted within `RECENT_MS`: completed, failed, dead"""

    @cached_property
    def serving(self) -> Mapping[str, Sequence[WorkerInfo]]:
        """The workers of each queue."""
        return served_by(self.workers, [queue.name for queue in self.queues])


def attention(found: Situation) -> Sequence[Attention]:
    """What needs attention, kind by kind, the most urgent kind first."""
    return [each for judge, rest in _JUDGES for each in _worst(judge(found), rest)]


_Judged = Iterator[tuple[int, Attention]]
"""Each with a number that is higher for what is worse."""


def _worst(judged: _Judged, rest: str) -> Sequence[Attention]:
    ranked = [each for _, each in sorted(judged, key=lambda pair: -pair[0])]
    left = len(ranked) - MOST
    if left <= 0:
        return ranked
    more = Attention(ranked[0].kind, rest.format(f"{left:,} more", "s are" if left > 1 else " is"))
    return [*ranked[:MOST], more]


def _without_leader(found: Situation) -> _Judged:
    settled = [each for each in found.workers if 0 < each.started_at < found.now - SETTLED_MS]
    if found.leaders is None or not settled:
        return
    term = found.leaders.get(UPKEEP)
    if term is None or term.expires_at <= found.now - LATE_MS:
        text = (
            "Nobody does the upkeep, neither a server nor a worker: jobs of lost workers are not "
            "rescued, and no schedule ticks."
        )
    elif term.holder.startswith(SERVER) or any(each.id == term.holder for each in found.workers):
        return
    else:
        text = (
            f"The upkeep is led by {term.holder}, of which nothing is heard: jobs of lost workers "
            "may not be rescued, and schedules may not tick."
        )
    yield found.now, Attention("upkeep", text)


def _without_worker(found: Situation) -> _Judged:
    for queue in found.queues:
        waiting, active = _sum(queue, *_TO_RUN), _sum(queue, State.ACTIVE)
        serving = found.serving[queue.name]
        if queue.paused or not waiting + active or any(worker.claims for worker in serving):
            continue
        what = f"{_jobs(waiting)} {_verb(waiting, 'wait')}" if waiting else ""
        if not waiting:
            what = f"{_jobs(active)} {'is' if active == 1 else 'are'} active"
        since = found.oldest.get(queue.name)
        for_long = "" if since is None else f", the oldest for {span(found.now - since)}"
        who = "No worker serves" if found.workers else "No worker is heard of, none serves"
        who = "Only workers that are quiet serve" if serving else who
        text = f"{who} the queue {queue.name}, where {what}{for_long}."
        yield waiting + active, Attention("no_worker", text, queue.name)


def _old(found: Situation) -> _Judged:
    for queue in found.queues:
        since = found.oldest.get(queue.name)
        serving = [worker for worker in found.serving[queue.name] if worker.claims]
        if queue.paused or not serving or since is None or found.now - since <= OLD_MS:
            continue
        slots = sum(worker.concurrency for worker in serving)
        full = all(worker.active >= worker.concurrency for worker in serving)
        busy = ""
        if full or _sum(queue, State.ACTIVE) >= slots:
            of = "its worker" if len(serving) == 1 else f"its {len(serving):,} workers"
            busy = f": all {slots:,} slots of {of} are busy"
        age = found.now - since
        text = f"Jobs have been waiting for {span(age)} in the queue {queue.name}{busy}."
        yield age, Attention("old", text, queue.name)


def _dead(found: Situation) -> _Judged:
    for queue in found.queues:
        died = found.recent.get(queue.name, {}).get("dead", 0)
        all_dead = _sum(queue, State.DEAD)
        # Those that were replayed or deleted since were attended to.
        died = min(died, all_dead)
        if died:
            more = "" if died == all_dead else f"; {all_dead:,} are dead by now"
            text = f"{_jobs(died)} of the queue {queue.name} died within the last hour{more}."
            yield died, Attention("dead", text, queue.name)


def _failing(found: Situation) -> _Judged:
    for name, counts in found.recent.items():
        failed = counts.get("failed", 0)
        runs = failed + counts.get("completed", 0)
        if name and failed >= FEW and failed >= FAILING * runs:
            share = f"{failed / runs:.0%}".replace("%", " %")
            text = f"{share} of {runs:,} runs in the queue {name} failed within the last hour."
            yield failed, Attention("failing", text, name)


def _cron(found: Situation) -> _Judged:
    for schedule in found.schedules:
        if schedule.paused:
            continue
        try:
            tick = schedule.timetable.after(schedule.last)
        except InvalidOption as error:
            text = f"The schedule {schedule.name} does not tick: {error}"
            yield found.now, Attention("cron", text, schedule.queue, schedule.name)
            continue
        late = found.now - tick
        if late > GRACE_MS:
            text = f"The schedule {schedule.name} {_lateness(schedule, tick, late)}."
            yield late, Attention("cron", text, schedule.queue, schedule.name)


def _lateness(schedule: Schedule, tick: int, late: int) -> str:
    when = f"{date(tick)} ({span(late)} ago)"
    if schedule.missed == "skip":
        return f"missed its tick of {when}: no worker or server was there to enqueue its job"
    return f"is late: nobody has enqueued the job of its tick of {when}"


def _paused(found: Situation) -> _Judged:
    for queue in found.queues:
        waiting = _sum(queue, *_TO_RUN)
        if queue.paused and waiting:
            text = f"The queue {queue.name} is paused, and {_jobs(waiting)} "
            text += f"{_verb(waiting, 'wait')} in it."
            yield waiting, Attention("paused", text, queue.name)


_JUDGES: Final[Sequence[tuple[Callable[[Situation], _Judged], str]]] = (
    (_without_leader, "{} leader{} missing."),
    (_without_worker, "{} queue{} without a worker."),
    (_old, "{} queue{} waiting for long."),
    (_dead, "{} queue{} with jobs that died within the last hour."),
    (_failing, "{} queue{} failing."),
    (_cron, "{} schedule{} late or broken."),
    (_paused, "{} queue{} paused with jobs in it."),
)


def _sum(queue: QueueStats, *states: State) -> int:
    return sum(queue.counts.get(state, 0) for state in states)


def _jobs(count: int) -> str:
    return f"{count:,} job{'' if count == 1 else 's'}"


def _verb(count: int, verb: str) -> str:
    return f"{verb}s" if count == 1 else verb
