"""Jobs on their way into the store, for callers of whom some are bound to queues.

Ids and unique keys are the whole store's. A caller with queues must neither learn by them what lies
in other queues, nor keep others from storing their jobs: its unique keys count within the queue of
the job, and an id that a job of another queue has is refused. See ADR 0019.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from ..core.model import Job, NewJob, Receipt
from ..core.result import JUDGE
from ..core.states import State
from ..core.unique import scoped_unique
from ..errors import Forbidden, InvalidOption, UnknownJob, WrongState
from ..members import WINDOW, get_all, get_brief
from ..stores.contract import Store
from ..workflows.outline import member_id
from .caller import Caller

Insert = Callable[[Sequence[NewJob]], Awaitable[Sequence[Receipt]]]

_MADE: Final = re.compile(
    r"key-[0-9a-f]{40}\.\d+"  # of an Idempotency-Key
    r"|.+@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"  # of a tick
)
"""Ids that are made here, of what can be guessed."""

_NOT_BEGUN: Final = frozenset({State.PENDING, State.SCHEDULED, State.BLOCKED})


async def store_jobs(
    store: Store,
    caller: Caller,
    jobs: Sequence[NewJob],
    insert: Insert,
    *,
    ids_are_made: bool = False,
) -> Sequence[Receipt]:
    """Store jobs for a caller by `insert`; `store` has all queues.

    `ids_are_made` says that the server has made the ids itself.
    """
    if not caller.queues:
        return await insert(jobs)
    refuse_outside(caller, jobs)
    if not ids_are_made:
        refuse_made(caller, jobs)
    await refuse_hidden(store, caller, jobs)
    await _refuse_steps_of_others(store, caller, jobs)
    if len(jobs) > 1:
        # Of one job alone nothing is stored if its id is taken.
        await refuse_taken(store, caller, jobs)
    receipts = await insert([_scoped(job) for job in jobs])
    await _refuse_others(store, caller, jobs, receipts)
    return receipts


def refuse_outside(caller: Caller, jobs: Iterable[NewJob]) -> None:
    """Raise `Forbidden` for new jobs that reach beyond the queues of their caller."""
    if not caller.queues:
        return
    for job in jobs:
        caller.require_queue(job.queue)
        if job.conflict != "reject":
            # It would change a job that is there, for which a key has to operate.
            raise Forbidden(
                f"The key {caller.name} is bound to queues: its jobs cannot have "
                f"on_conflict={job.conflict!r}."
            )


def refuse_unique(caller: Caller, jobs: Iterable[NewJob]) -> None:
    """Raise `Forbidden` for jobs with unique keys that a worker will store later, as they are."""
    if caller.queues and any(job.unique for job in jobs):
        raise Forbidden(
            f"The key {caller.name} is bound to queues: what follows its workflows cannot have "
            "a unique key."
        )


async def refuse_hidden(store: Store, caller: Caller, jobs: Sequence[NewJob]) -> None:
    """Raise `UnknownJob` for new jobs that depend on some that their caller does not see.

    Or that join the workflow of one. Whether one is there, and how it ended, would show by what
    becomes of those that depend on it.
    """
    if not caller.queues:
        return
    new = {job.id for job in jobs}
    named = {id for job in jobs for id in (*job.spec.parents, job.spec.workflow) if id}
    found = await store.get([*named]) if named else {}
    for id in named:
        # One of the same call, too: if there was one of its id before, that stands for it.
        seen = found[id].queue in caller.queues if id in found else id in new
        if not seen:
            raise UnknownJob(f"There is no job {id}: it never was, was deleted, or was not kept.")


async def refuse_taken(store: Store, caller: Caller, jobs: Iterable[NewJob]) -> None:
    """Raise `WrongState` for new jobs whose ids others have, whom their caller does not see."""
    if caller.queues:
        ids = [job.id for job in jobs if not job.fresh]
        _refuse_foreign(caller, await get_brief(store, ids) if ids else {})


def refuse_made(caller: Caller, jobs: Iterable[NewJob]) -> None:
    """Raise `InvalidOption` for new jobs with ids that Windlass makes itself."""
    for job in jobs:
        if caller.queues and not job.fresh and _MADE.fullmatch(job.id):
            raise InvalidOption(
                f"The id {job.id} is of a form that is made by Windlass itself: choose another."
            )


async def _refuse_steps_of_others(store: Store, caller: Caller, jobs: Iterable[NewJob]) -> None:
    """Raise `WrongState` for a workflow that would count jobs of others among its own.

    The steps of one that had this id may still be there, when the job that stood for it is gone.
    """
    ids = [job.id for job in jobs if job.spec.task == JUDGE]
    steps = [member_id(id, number) for id in ids for number in range(1, WINDOW + 1)]
    found = await get_all(store, steps) if steps else {}
    _refuse_foreign(caller, {id: job for id, job in found.items() if job.spec.workflow in ids})


async def _refuse_others(
    store: Store, caller: Caller, jobs: Sequence[NewJob], receipts: Sequence[Receipt]
) -> None:
    """Raise for duplicates of jobs that the caller does not see.

    They have come since they were looked for: the others of the call are taken back.
    """
    known = [receipt.id for receipt in receipts if receipt.duplicate]
    if not known:
        return
    try:
        _refuse_foreign(caller, await get_brief(store, known))
    except WrongState:
        new = [receipt.id for receipt in receipts if not receipt.duplicate]
        if new:
            await store.delete(new, _NOT_BEGUN)
        raise


def _refuse_foreign(caller: Caller, found: Mapping[str, Job]) -> None:
    for job in found.values():
        if job.queue not in caller.queues:
            raise WrongState(
                f"The id {job.id} cannot be had by the key {caller.name}, which is bound to "
                "queues: choose another."
            )


def _scoped(job: NewJob) -> NewJob:
    if not job.unique:
        return job
    return replace(job, unique=scoped_unique(job.queue, job.unique))
