"""Jobs as the steps of the specification make them."""

from __future__ import annotations

from ...core.model import Job, NewJob, Transition
from ...core.states import State
from ...core.unique import UNTIL_STARTED


def fresh(new: NewJob, now: int) -> Job:
    """A new job that waits for nothing but its time."""
    due = now + new.delay if new.due is None else new.due
    return Job(
        id=new.id,
        spec=new.spec,
        queue=new.queue,
        state=State.SCHEDULED if due > now else State.PENDING,
        priority=new.priority,
        created_at=now,
        due=due,
        unique=None if new.spec.unique_for > 0 else new.unique,
    )


def awaited(job: Job, transition: Transition, state: State) -> str | None:
    """What a job is parked for. Released, it still has not got what did not come in time."""
    if transition.state is State.PENDING:
        return job.awaits
    return transition.awaits if state is State.SCHEDULED else None


def kept_key(job: Job) -> str | None:
    """The unique key of a job once it is claimed."""
    return None if job.spec.unique_for == UNTIL_STARTED else job.unique
