"""What must hold of every record, whatever was killed. Pure: a record in, breaches out.

A rule never takes for granted what nobody wrote down. A process that was killed may have done
its last step or not; an attempt counts as running only from what its worker wrote first until the
first moment at which it could have been over. So a breach is one, and not the fault of a clock.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final, NamedTuple

from ...core.states import FINISHED, State
from .record import Event, Outcome
from .trace import Trace, traced


class Breach(NamedTuple):
    """A promise that was not kept."""

    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


def check(events: Sequence[Event], outcome: Outcome, *, forgets: bool = False) -> list[Breach]:
    """Every breach of every rule; none is what is wanted.

    A store that `forgets` what it has acknowledged is judged by the rules that hold even then.
    """
    trace = traced(events, outcome)
    rules = RULES_IN_SPITE_OF_LOSSES if forgets else RULES
    return [Breach(rule.__name__, text) for rule in rules for text in rule(trace)]


def nothing_accepted_is_lost(trace: Trace) -> Iterator[str]:
    for id in trace.accepted:
        if id not in trace.jobs:
            yield f"{id} was accepted and is gone"


def everything_ends(trace: Trace) -> Iterator[str]:
    for job in trace.outcome.jobs:
        if job.state not in FINISHED:
            yield f"{job.id} is still {job.state}"


def nothing_is_there_twice(trace: Trace) -> Iterator[str]:
    for id, number in Counter(job.id for job in trace.outcome.jobs).items():
        if number > 1:
            yield f"{id} is listed {number} times"


def nothing_ends_twice(trace: Trace) -> Iterator[str]:
    for id, ends in trace.ends.items():
        if len(ends) > 1:
            fences = ", ".join(str(end.fence) for end in ends)
            yield f"{id} was ended {len(ends)} times, by the fences {fences}"


def a_stale_fence_writes_nothing(trace: Trace) -> Iterator[str]:
    for id, ends in trace.ends.items():
        newest = max((start.fence for start in trace.starts.get(id, ())), default=0)
        for end in ends:
            if end.fence < newest:
                yield f"{id} was ended by the fence {end.fence} although {newest} had begun"


def what_was_completed_is_completed(trace: Trace) -> Iterator[str]:
    for id, ends in trace.ends.items():
        job = trace.jobs.get(id)
        if job is not None and job.state is not ends[-1].state:
            yield f"{id} was written as {ends[-1].state} and is {job.state}"


def a_completed_job_has_run(trace: Trace) -> Iterator[str]:
    for id, job in trace.jobs.items():
        if job.state is State.COMPLETED and id in trace.asked and id not in trace.effects:
            yield f"{id} is completed and its handler did nothing"


def fences_only_grow(trace: Trace) -> Iterator[str]:
    for id, starts in trace.starts.items():
        for before, after in pairwise(starts):
            if after.fence == before.fence:
                yield f"{id} was started twice with the fence {after.fence}"


def no_fence_repeats(trace: Trace) -> Iterator[str]:
    """Not even where nobody knows any more that it was given: it may be known elsewhere."""
    for id, starts in trace.starts.items():
        effects = trace.effects.get(id, ())
        nodes = {(start.fence, start.node) for start in starts}
        nodes |= {(effect.fence, effect.node) for effect in effects}
        started = Counter(start.fence for start in starts)
        for fence, number in Counter(fence for fence, _ in nodes).items():
            if number > 1 or started[fence] > 1:
                yield f"the fence {fence} of {id} was given {max(number, started[fence])} times"


def limits_hold(trace: Trace) -> Iterator[str]:
    for name, most in trace.outcome.limits.items():
        moments: list[tuple[float, int]] = []
        for span in trace.spans:
            asked = trace.asked.get(span.job)
            if asked and asked.limit == name and span.until > span.since:
                moments += [(span.since, 1), (span.until, -1)]
        active = 0
        for _, change in sorted(moments):
            active += change
            if active > most:
                yield f"{active} jobs were active under {name}, which allows {most}"
                break


def no_tick_is_left_out(trace: Trace) -> Iterator[str]:
    yield from left_out(trace.jobs, trace.outcome.ticks)


def left_out(ids: Iterable[str], schedules: Mapping[str, int]) -> Iterator[str]:
    """The ticks that have no job, although a later one has."""
    found = [id for id in ids if "@" in id]
    for name, step in schedules.items():
        ticks = sorted(_moment(id) for id in found if id.startswith(f"{name}@"))
        for before, after in pairwise(ticks):
            if after - before != step:
                yield f"{name} had a job at {before} and the next one at {after}"


def _moment(id: str) -> int:
    text = id.rpartition("@")[2]
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def dependents_come_after_parents(trace: Trace) -> Iterator[str]:
    for id, starts in trace.starts.items():
        asked = trace.asked.get(id)
        for parent in asked.parents if asked else ():
            over = (trace.ending if asked and asked.runs_anyway else trace.completing).get(parent)
            if over is None and asked and asked.runs_anyway:
                # Cancelled, by a step that nobody wrote down.
                over = 0.0 if _was_cancelled(trace, parent) else None
            if over is None or over > starts[0].at:
                yield f"{id} began before its parent {parent} was over"


def _was_cancelled(trace: Trace, id: str) -> bool:
    return id in trace.jobs and trace.jobs[id].state is State.CANCELLED


def a_sequence_keeps_its_order(trace: Trace) -> Iterator[str]:
    for name, ids in trace.sequences.items():
        first = [(trace.starts[id][0].at, id) for id in ids if id in trace.starts]
        began = [id for _, id in sorted(first)]
        wanted = [id for id in ids if id in trace.starts]
        if began != wanted:
            place = next(n for n, (a, b) in enumerate(zip(began, wanted, strict=True)) if a != b)
            yield f"in {name}, {began[place]} began before {wanted[place]}, which came first"


def a_unique_key_has_one_live_job(trace: Trace) -> Iterator[str]:
    for key, ids in trace.unique.items():
        for before, after in pairwise(ids):
            over = trace.ending.get(before)
            # One that was cancelled was so by a step that nobody wrote down.
            cancelled = (
                trace.jobs[before].state is State.CANCELLED if before in trace.jobs else True
            )
            if not cancelled and (over is None or over > trace.accepted[after].at):
                yield f"{after} was accepted while {before} held the key {key}"


def counters_tell_the_truth(trace: Trace) -> Iterator[str]:
    real: dict[str, Counter[State]] = defaultdict(Counter)
    for job in trace.outcome.jobs:
        real[job.queue][job.state] += 1
    told = {queue.name: Counter(queue.counts) for queue in trace.outcome.queues}
    for name in sorted(real.keys() | told.keys()):
        if +told.get(name, Counter()) != real.get(name, Counter()):
            said, found = dict(told.get(name, Counter())), dict(real.get(name, Counter()))
            yield f"the queue {name} says {said} and has {found}"


Rule = Callable[[Trace], Iterator[str]]

RULES: Final[tuple[Rule, ...]] = (
    nothing_accepted_is_lost,
    everything_ends,
    nothing_is_there_twice,
    nothing_ends_twice,
    a_stale_fence_writes_nothing,
    what_was_completed_is_completed,
    a_completed_job_has_run,
    fences_only_grow,
    no_fence_repeats,
    limits_hold,
    no_tick_is_left_out,
    dependents_come_after_parents,
    a_sequence_keeps_its_order,
    a_unique_key_has_one_live_job,
    counters_tell_the_truth,
)

RULES_IN_SPITE_OF_LOSSES: Final[tuple[Rule, ...]] = (
    nothing_is_there_twice,
    fences_only_grow,
    no_fence_repeats,
    counters_tell_the_truth,
)
"""Those that hold of a store that was set back to an earlier state, too."""
