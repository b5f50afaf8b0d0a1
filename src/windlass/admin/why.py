"""Why a job does not run, in one sentence: a pure function of the facts.

The store knows what workers told it last; where that leaves a doubt, the sentence says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from ..core.dependents import ORPHANED
from ..core.lane import Lane
from ..core.model import NEVER
from ..core.outcome import most_lost, was_expired
from ..core.states import State
from .facts import SHOWN_PARENTS, Facts, queue_names
from .moment import iso, relative

LONGEST_ERROR: Final = 200
SHOWN_QUEUES: Final = 8


class Reason(NamedTuple):
    """The answer; `code` is one word of a fixed set, for programs."""

    code: str
    sentence: str


def explain(facts: Facts) -> Reason:
    """Why the job does not run, or that it does."""
    return _ANSWERS[facts.job.state](facts)


def _completed(facts: Facts) -> Reason:
    when = _moment(facts.job.finished_at, facts)
    return Reason("completed", f"It is done: attempt {facts.job.attempt} completed it at {when}.")


def _dead(facts: Facts) -> Reason:
    job = facts.job
    after = f"attempt {job.attempt} of at most {job.spec.max_retries + 1}"
    if job.lost:
        after = f"{_number(job.lost, 'worker')} {'was' if job.lost == 1 else 'were'} lost with it"
    return Reason(
        "dead",
        f"It is dead since {_moment(job.finished_at, facts)}, after {after}{_error(facts)}; only a "
        "replay makes it run again.",
    )


def _cancelled(facts: Facts) -> Reason:
    when = _moment(facts.job.finished_at, facts)
    if was_expired(facts.job):
        expired = _moment(facts.job.expires_at, facts)
        return Reason("expired", f"It expired at {expired}, before a worker could start it.")
    if facts.job.error is not None and facts.job.error.kind == ORPHANED:
        return Reason(
            "orphaned",
            f"It was cancelled at {when}: {facts.job.error.message}; replay that one first, then "
            "this.",
        )
    return Reason("cancelled", f"It was cancelled at {when}; only a replay makes it run again.")


def _blocked(facts: Facts) -> Reason:
    ids, lane = facts.job.waits_for, facts.job.spec.lane
    if not ids and lane is not None:
        return _held_back(lane, facts)
    if not ids:
        return Reason("blocked", "What it waited for has just ended; it should go on in moments.")
    shown = ", ".join(_parent(id, facts) for id in ids[:SHOWN_PARENTS])
    more = f" and {len(ids) - SHOWN_PARENTS:,} more" if len(ids) > SHOWN_PARENTS else ""
    number = "the job" if len(ids) == 1 else _number(len(ids), "job")
    return Reason("blocked", f"It waits for {number} that it depends on: {shown}{more}.")


def _held_back(lane: Lane, facts: Facts) -> Reason:
    """It waits in its lane."""
    _, _, name = lane.name.partition(":")
    besides = _besides(facts)
    if lane.strict:
        text = f"It waits until those before it in the sequence {name!r} have ended"
        return Reason("sequence", f"{text}{besides}.")
    if lane.size:
        return Reason("batch", f"It waits for others, to run together as {_batch(lane)}{besides}.")
    return Reason("limited", f"The limit {name!r} holds it back: {_limits(lane)}{besides}.")


def _limits(lane: Lane) -> str:
    parts = []
    if lane.slots:
        parts.append(f"at most {lane.slots:,} may run at a time")
    if lane.starts:
        parts.append(f"at most {lane.starts:,} may start in {lane.per / 1000:g} s")
    return ", and ".join(parts)


def _batch(lane: Lane) -> str:
    return (
        f"at most {lane.size:,}, once none has come for {lane.grace / 1000:g} s or the first has "
        f"waited for {lane.longest / 1000:g} s"
    )


def _parent(id: str, facts: Facts) -> str:
    job = facts.awaited.get(id)
    return id if job is None else f"{id} ({job.state})"


def _scheduled(facts: Facts) -> Reason:
    if facts.job.due <= facts.now:
        return _overdue(facts)
    if facts.job.awaits is not None:
        return Reason("parked", f"It is parked {_parked(facts)}{_error(facts)}{_besides(facts)}.")
    # No store tells a time of its own from the moment at which its lane lets the next one go.
    lane = facts.job.spec.lane
    what = "its time or its turn" if lane is not None and lane.counts_starts else "its time"
    return Reason(
        "scheduled",
        f"It waits for {what}, {_moment(facts.job.due, facts)}{_error(facts)}{_besides(facts)}.",
    )


def _parked(facts: Facts) -> str:
    job = facts.job
    until = "for as long as it takes" if job.due >= NEVER else f"until {_moment(job.due, facts)}"
    return f"for the signal {job.awaits!r} {until}"


def _retry(facts: Facts) -> Reason:
    job = facts.job
    if job.due <= facts.now:
        return _overdue(facts)
    failed = f"It failed in attempt {job.attempt} of at most {job.spec.max_retries + 1}"
    if job.lost:
        lost = _number(job.lost, "worker")
        failed = f"It has lost {lost} of at most {most_lost(job.spec)} in a row"
    return Reason(
        "retry",
        f"{failed}{_error(facts)}, and waits for the next one at {_moment(job.due, facts)}"
        f"{_besides(facts)}.",
    )


def _overdue(facts: Facts) -> Reason:
    """Due jobs stay in their state until a worker of their queue claims again."""
    code, obstacle = _obstacle(facts) or (
        "due",
        "the next claim of a worker takes it into account, which should be within moments",
    )
    return Reason(code, f"Its time came {_ago(facts.job.due, facts)}, but {obstacle}.")


def _pending(facts: Facts) -> Reason:
    obstacle = _obstacle(facts)
    if obstacle is not None:
        code, text = obstacle
        return Reason(code, f"{text[0].upper()}{text[1:]}.")
    if facts.line is None:
        return Reason("unsure", "It changed while it was looked at; ask again.")
    serving = [worker for worker in facts.serving if worker.claims]
    if facts.line.before:
        return Reason(
            "behind",
            f"{_before(facts)} in its queue {facts.job.queue}, which "
            f"{_number(len(serving), 'worker')} {'serves' if len(serving) == 1 else 'serve'}.",
        )
    # Not all are full, or that would have been the obstacle.
    free = [worker for worker in serving if worker.active < worker.concurrency]
    if all(0 < worker.threads <= worker.in_threads for worker in free):
        one = f"its worker {free[0].id}" if len(free) == 1 else f"its {len(free):,} workers"
        return Reason(
            "threads",
            f"It is first in line, and {one} can run async handlers only for now: if it is a "
            f"blocking one, it waits for one of {sum(each.threads for each in free):,} threads, "
            "all of which are taken.",
        )
    return Reason(
        "next",
        "Nothing that the store knows of holds it back: it is first in line and should start "
        f"within moments; if it does not, the log of worker {free[0].id} may tell why.",
    )


def _active(facts: Facts) -> Reason:
    job = facts.job
    attempt = f"attempt {job.attempt} of at most {job.spec.max_retries + 1}"
    if job.lease_until is not None and job.lease_until <= facts.now:
        rescue = (
            "a worker will notice within seconds and decide on a retry"
            if facts.workers
            else "no worker is heard of that could rescue it; start one"
        )
        return Reason(
            "lost",
            f"Worker {job.worker} has let its lease run out {_ago(job.lease_until, facts)} in "
            f"{attempt} and is probably gone: {rescue}.",
        )
    if facts.owner is None:
        return Reason(
            "unsure",
            f"Worker {job.worker} took it {_ago(job.started_at, facts)} for {attempt} and is not "
            "heard of: if it is gone, another one takes over when the lease runs out at "
            f"{_moment(job.lease_until, facts)}.",
        )
    return Reason(
        "running",
        f"It is running: worker {job.worker} has it since {_moment(job.started_at, facts)}, "
        f"{attempt}{_progress(facts)}{_waiting_room(facts)}.",
    )


_ANSWERS: Final[Mapping[State, Callable[[Facts], Reason]]] = {
    State.BLOCKED: _blocked,
    State.SCHEDULED: _scheduled,
    State.PENDING: _pending,
    State.ACTIVE: _active,
    State.RETRY: _retry,
    State.COMPLETED: _completed,
    State.DEAD: _dead,
    State.CANCELLED: _cancelled,
}


def _obstacle(facts: Facts) -> tuple[str, str] | None:
    """What keeps every job of the queue from being claimed."""
    queue, serving = facts.job.queue, facts.serving
    if facts.paused:
        return "paused", f"its queue {queue} is paused until someone resumes it"
    if not serving:
        return "no_worker", f"no worker serves its queue {queue}: {_elsewhere(facts)}"
    if not any(worker.claims for worker in serving):
        are = "the one worker" if len(serving) == 1 else f"all {len(serving)} workers"
        if all(worker.order == "stop" for worker in serving):
            stops = "was told to stop" if len(serving) == 1 else "were told to stop"
            return "no_worker", f"{are} of its queue {queue} {stops}"
        verb = "is quiet until it is" if len(serving) == 1 else "are quiet until one is"
        return "quiet", f"{are} of its queue {queue} {verb} told to work again"
    serving = [worker for worker in serving if worker.claims]
    slots = sum(worker.concurrency for worker in serving)
    if facts.active >= slots or all(worker.active >= worker.concurrency for worker in serving):
        busy = "the one worker" if len(serving) == 1 else f"all {len(serving)} workers"
        seem = "seems" if len(serving) == 1 else "seem"
        text = f"{busy} of its queue {queue} {seem} to have no free slot of {slots:,}"
        more = f", and {_before(facts).lower()}" if facts.line and facts.line.before else ""
        return "busy", text + more
    return None


def _elsewhere(facts: Facts) -> str:
    if not facts.workers:
        return "none at all is heard of"
    names = sorted({name for worker in facts.workers for name in queue_names(worker)})
    more = ", …" if len(names) > SHOWN_QUEUES else ""
    known = _number(len(facts.workers), "worker")
    return f"the {known} heard of serve{'s' * (len(facts.workers) == 1)} " + (
        ", ".join(names[:SHOWN_QUEUES]) + more
    )


def _besides(facts: Facts) -> str:
    """What will be in its way even then; a worker that is busy now will not be."""
    obstacle = _obstacle(facts)
    return f"; besides, {obstacle[1]}" if obstacle and obstacle[0] != "busy" else ""


def _before(facts: Facts) -> str:
    assert facts.line is not None
    count = _number(facts.line.before, "pending job")
    verb = "is" if facts.line.before == 1 else "are"
    return f"{'More than ' if facts.line.more else ''}{count} {verb} before it"


def _error(facts: Facts) -> str:
    if facts.job.error is None:
        return ""
    text = " ".join(str(facts.job.error).split())
    return f" ({text if len(text) <= LONGEST_ERROR else text[: LONGEST_ERROR - 1] + '…'})"


def _progress(facts: Facts) -> str:
    progress = facts.job.progress
    if progress is None:
        return ""
    message = " ".join(progress.message.split())
    return f", at {progress.percent:g} %{f' ({message})' if message else ''}"


def _waiting_room(facts: Facts) -> str:
    """Workers claim ahead: one that has more jobs than slots lets some of them wait."""
    owner = facts.owner
    if owner is None or facts.held <= owner.concurrency:
        return ""
    return f"; or it waits there for one of {owner.concurrency} slots, which cannot be told"


def _moment(ms: int | None, facts: Facts) -> str:
    return "an unknown time" if ms is None else f"{iso(ms)} ({_ago(ms, facts)})"


def _ago(ms: int | None, facts: Facts) -> str:
    text = relative(ms, facts.now / 1000) or "at an unknown time"
    return "just now" if text == "now" else text


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
