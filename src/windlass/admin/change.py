"""Changes that people make to jobs by their ids, and why some of them were refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

from ..core.codec import Codecs
from ..core.model import Job
from ..core.states import DELETABLE, LIVE, REPLAYABLE, RESCHEDULABLE, WAITING, State
from ..errors import InvalidOption
from ..members import get_brief
from ..stores.contract import Store
from .replay import replay

BATCH: Final = 500
"""Jobs in one step of the store: long enough to be quick, short enough to let workers in."""


class Change(NamedTuple):
    """One kind of change: what was done in the end, and to jobs of which states."""

    done: str
    states: frozenset[State]
    apply: Callable[[Store, Sequence[str]], Awaitable[frozenset[str]]]
    is_in_effect: Callable[[Job], bool] = lambda job: False
    """whether a job is as the change would make it, if that leaves it where it may be met again"""
    is_blind: bool = False
    """whether it is also for jobs that are so damaged that no store can show them"""


def fitting(change: Change, asked: Sequence[State]) -> tuple[State, ...]:
    """The states in which jobs are looked for, in the order in which a job goes through them."""
    states = tuple(state for state in State if state in change.states)
    if asked:
        states = tuple(state for state in states if state in asked)
    if not states:
        raise InvalidOption(
            f"No job can be {change.done} that is {', '.join(asked)}; it must be "
            f"{', '.join(sorted(change.states))}."
        )
    return states


class Answer(NamedTuple):
    """The ids that were changed, and a sentence for each that was not."""

    changed: Sequence[str]
    refused: Mapping[str, str]


CANCEL: Final = Change("cancelled", LIVE, lambda store, ids: store.cancel(ids))


def replaying(codecs: Codecs) -> Change:
    """The change to another run; of a workflow as a whole, which these codecs can read."""
    return Change("replayed", REPLAYABLE, lambda store, ids: replay(store, codecs, ids))


REPLAY: Final = replaying(Codecs())


def delete(states: frozenset[State] = DELETABLE) -> Change:
    """The change to nothing, of jobs in these states only."""
    return Change(
        "deleted",
        states,
        lambda store, ids: store.delete(ids, states),
        is_blind=states == DELETABLE,
    )


DELETE_DEAD: Final = delete(frozenset({State.DEAD}))


def reschedule(delay: int = 0, due: int | None = None) -> Change:
    """The change to another time; both in milliseconds, as the store takes them."""
    return Change(
        "rescheduled",
        RESCHEDULABLE,
        lambda store, ids: store.reschedule(ids, delay, due),
        lambda job: due is not None and job.due == due,
    )


def prioritize(priority: int) -> Change:
    """The change to another priority."""
    return Change(
        "prioritized",
        WAITING,
        lambda store, ids: store.prioritize(ids, priority),
        lambda job: job.priority == priority,
    )


async def change_jobs(store: Store, change: Change, ids: Sequence[str]) -> Answer:
    """Change the jobs of these ids where their states allow it."""
    asked = list(dict.fromkeys(ids))
    changed: list[str] = []
    refused: dict[str, str] = {}
    for start in range(0, len(asked), BATCH):
        batch = asked[start : start + BATCH]
        seen = await get_brief(store, batch)
        done = await apply(store, change, seen)
        unseen = [id for id in batch if id not in seen]
        if unseen and change.is_blind:
            done |= await change.apply(store, unseen)
        changed += [id for id in batch if id in done]
        left = [id for id in batch if id not in done]
        found = await get_brief(store, left)
        refused |= {id: _reason(change, id, found.get(id)) for id in left}
    return Answer(changed, refused)


async def apply(store: Store, change: Change, jobs: Mapping[str, Job]) -> frozenset[str]:
    """One step: change those of these jobs that the change is for.

    A store's own rule can be wider than the change's: it would delete a pending job too.
    """
    fit = [id for id, job in jobs.items() if job.state in change.states]
    return await change.apply(store, fit) if fit else frozenset()


def _reason(change: Change, id: str, job: Job | None) -> str:
    if job is None:
        return f"There is no job {id}."
    cannot = f"Job {id} cannot be {change.done}"
    if job.state not in change.states:
        return f"{cannot}: it is {job.state}."
    if change.done == "replayed" and job.unique is not None:
        return f"{cannot}: another job that is not finished has its unique key {job.unique}."
    return (
        f"{cannot}: it was changed by someone else just now, or its record is damaged; "
        "try again, or delete it."
    )
