"""A schedule: which job to enqueue when, again and again. Pure.

What a schedule is to do is its own; when it last did it is the store's, and no two schedulers
can see to the same tick: see `Store.tick`.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, Literal, get_args

import msgspec

from ..errors import InvalidOption, shown
from .clock import to_datetime
from .cron import Missed, Timetable, checked_missed, timetable
from .ids import NOWHERE, new_id
from .model import DEFAULT_PRIORITY, DEFAULT_QUEUE, Job, NewJob, Spec
from .states import LIVE, State

Overlap = Literal["allow", "skip", "queue"]
"""What a tick does while the job of the one before is not finished: enqueue all the same, leave
it out, or let one more wait for that job."""

MAX_NAME: Final = 100


class Schedule(msgspec.Struct, frozen=True):
    """A schedule as the store has it. `paused`, `last` and `job` are the store's to change."""

    name: str
    text: str
    spec: Spec
    zone: str = "UTC"
    queue: str = DEFAULT_QUEUE
    priority: int = DEFAULT_PRIORITY
    missed: Missed = "skip"
    overlap: Overlap = "allow"
    paused: bool = False
    last: int = 0
    """the last tick that was seen to, or the moment at which the schedule was made"""
    job: str = ""
    """the job of the last tick that made one"""

    @property
    def timetable(self) -> Timetable:
        return timetable(self.text, self.zone)

    def new_job(self, tick: int) -> NewJob:
        """The job of a tick. Its id says which one: nobody else makes such an id."""
        id = f"{self.name}@{to_datetime(tick):%Y-%m-%dT%H:%M:%S}"
        return NewJob(id, self.spec, self.queue, self.priority, fresh=True)

    def extra_job(self) -> NewJob:
        """A job besides those of the ticks."""
        id = f"{self.name}@{new_id().replace('-', '')[12:]}"
        return NewJob(id, self.spec, self.queue, self.priority, fresh=True)


def schedule_of(
    name: str,
    text: str,
    job: NewJob,
    timezone: str = "UTC",
    missed: str = "skip",
    overlap: str = "allow",
) -> Schedule:
    """A schedule that enqueues such jobs, with everything about it checked."""
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME:
        raise InvalidOption(f"The name of a schedule is a text of 1 to {MAX_NAME} characters.")
    if not name.isprintable() or name != name.strip():
        raise InvalidOption(
            "The name of a schedule has printable characters only and no blanks at its ends; "
            f"got {shown(name)}."
        )
    if name in NOWHERE:
        raise InvalidOption(f"A schedule cannot be called {name}: no address can have it.")
    spec = job.spec
    if not job.fresh or job.delay or (job.due, job.unique, spec.expires_at) != (None,) * 3:
        raise InvalidOption(
            f"The jobs of the schedule {name} cannot have id, delay, at, unique or expires_at: "
            "each tick has a job of its own; overlap says what it does while the last one runs."
        )
    if spec.parents:
        raise InvalidOption(f"The jobs of the schedule {name} cannot depend on others.")
    return Schedule(
        name,
        timetable(text, timezone).text,
        spec,
        timezone,
        job.queue,
        job.priority,
        checked_missed(missed),
        checked_overlap(overlap),
    )


class Turn(Enum):
    """What a tick comes to."""

    RUNS = auto()
    FOLLOWS = auto()
    """waits for the job before"""
    LEFT_OUT = auto()


def turn(overlap: Overlap, before: Job | None) -> Turn:
    """What a tick comes to, given the job of the last one if there still is one."""
    if overlap == "allow" or before is None or before.state not in LIVE:
        return Turn.RUNS
    begun = before.state is State.ACTIVE or before.attempt > 0
    return Turn.FOLLOWS if overlap == "queue" and begun else Turn.LEFT_OUT


def following(new: NewJob, before: str) -> NewJob:
    """The job of a tick that waits for the one before, however that ends."""
    spec = msgspec.structs.replace(new.spec, parents=(before,), runs_anyway=True)
    return msgspec.structs.replace(new, spec=spec)


def checked_overlap(value: str) -> Overlap:
    if value not in get_args(Overlap):
        raise InvalidOption(f"overlap is allow, skip or queue; got {shown(value)}.")
    return value  # type: ignore[return-value]
