"""A record, sorted by what its events are about."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from math import inf
from typing import Literal, NamedTuple, TypeVar

from ...core.model import Job
from ...core.states import FINISHED, State
from .record import (
    Accepted,
    Asked,
    Effect,
    Event,
    Fault,
    Finished,
    Finishing,
    Outcome,
    Started,
)

E = TypeVar("E", Started, Effect)


Claim = tuple[str, int]
"""A job and a fence."""


class Span(NamedTuple):
    """When an attempt was active for sure."""

    job: str
    since: float
    until: float


class Trace(NamedTuple):
    """What `rules` look at. Everything is in the order in which it happened."""

    outcome: Outcome
    jobs: Mapping[str, Job]
    asked: Mapping[str, Asked]
    accepted: Mapping[str, Accepted]
    """those that were new"""
    starts: Mapping[str, Sequence[Started]]
    effects: Mapping[str, Sequence[Effect]]
    ends: Mapping[str, Sequence[Finished]]
    """the writes that the store took and that ended a job, one for each fence"""
    completing: Mapping[str, float]
    """the first moment at which a job could have been completed"""
    ending: Mapping[str, float]
    """the first moment at which it could have been over, however it ended"""
    spans: Sequence[Span]
    sequences: Mapping[str, Sequence[str]]
    """the jobs of each sequence, in the order in which they were accepted one after the other"""
    unique: Mapping[str, Sequence[str]]
    """the jobs that got each unique key, in the order in which they did"""


def traced(events: Sequence[Event], outcome: Outcome) -> Trace:
    asked = {event.job: event for event in events if isinstance(event, Asked)}
    accepted = {
        event.job: event for event in events if isinstance(event, Accepted) and not event.duplicate
    }
    starts = _by_job(event for event in events if isinstance(event, Started))
    held = _held(events)
    ends = {
        id: [end for end in writes if end.state in FINISHED]
        for id, writes in _of_jobs(held).items()
    }
    finishing = _possible(events, held)
    jobs = {job.id: job for job in outcome.jobs}
    return Trace(
        outcome,
        jobs,
        asked,
        accepted,
        starts,
        _by_job(event for event in events if isinstance(event, Effect)),
        {id: writes for id, writes in ends.items() if writes},
        _first(event for event in finishing if event.state is State.COMPLETED),
        _first(event for event in finishing if event.state in FINISHED),
        _spans(events, starts, finishing),
        _ordered(asked, accepted, "sequence"),
        _ordered(asked, accepted, "unique"),
    )


def _by_job(events: Iterable[E]) -> dict[str, list[E]]:
    found: dict[str, list[E]] = defaultdict(list)
    for event in events:
        found[event.job].append(event)
    return found


def _held(events: Iterable[Event]) -> dict[Claim, Finished]:
    """For each claim the write that the store took: one, however often it was repeated."""
    return {
        (event.job, event.fence): event
        for event in events
        if isinstance(event, Finished) and event.held
    }


def _of_jobs(held: Mapping[Claim, Finished]) -> dict[str, list[Finished]]:
    found: dict[str, list[Finished]] = defaultdict(list)
    for (id, _), write in sorted(held.items(), key=lambda each: each[0][1]):
        found[id].append(write)
    return found


def _possible(events: Sequence[Event], held: Container[Claim]) -> list[Finishing]:
    """The writes that may have been taken: all but those of claims that were always refused.

    One whose answer was lost may have been taken, and refused when it was repeated.
    """
    tried = [event for event in events if isinstance(event, Finishing)]
    open = Counter((event.job, event.fence) for event in tried)
    open.subtract((event.job, event.fence) for event in events if isinstance(event, Finished))
    return [
        event for event in tried if (claim := (event.job, event.fence)) in held or open[claim] > 0
    ]


def _first(events: Iterable[Finishing]) -> dict[str, float]:
    first: dict[str, float] = {}
    for event in events:
        first.setdefault(event.job, event.at)
    return first


def _spans(
    events: Sequence[Event], starts: Mapping[str, Sequence[Started]], finishing: Sequence[Finishing]
) -> list[Span]:
    """Until the first moment at which an attempt may have ended, or its node could do nothing."""
    halts: dict[str, list[float]] = defaultdict(list)
    for event in events:
        if isinstance(event, Fault):
            halts[event.node].append(event.at)
    writes: dict[str, list[Finishing]] = defaultdict(list)
    for event in finishing:
        writes[event.job].append(event)
    spans = []
    for id, attempts in starts.items():
        for start in attempts:
            over = (each.at for each in writes[id] if each.fence >= start.fence)
            later = (each.at for each in attempts if each.fence > start.fence)
            halted = (at for name in (start.node, "") for at in halts[name] if at >= start.at)
            spans.append(Span(id, start.at, min((*over, *later, *halted), default=inf)))
    return spans


def _ordered(
    asked: Mapping[str, Asked],
    accepted: Mapping[str, Accepted],
    by: Literal["sequence", "unique"],
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for id in sorted(accepted, key=lambda id: accepted[id].at):
        name = getattr(asked[id], by) if id in asked else ""
        if name:
            found[name].append(id)
    return found
