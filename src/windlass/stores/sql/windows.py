"""Unique keys that are held for a time, whatever becomes of the job: a table beside the jobs.

A job that holds its key so does not have it itself. But it comes in with it, and lets go of it in
the same transaction: so two who want a key at one moment meet in the index of the jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...core.model import Job, NewJob, Receipt
from ...core.states import LIVE
from .lock import lock
from .operation import Bulk, Operation, Plan, Row, Statement
from .rows import json_array


def held(keys: Iterable[str | None], now: int) -> Operation[dict[str, str]]:
    """Those of these keys that a window holds, each with the job that it is of."""
    wanted = sorted({key for key in keys if key is not None})
    if not wanted:
        return {}
    return dict((yield Statement("windows", {"keys": json_array(wanted), "now": now})))


def hold(jobs: Iterable[tuple[str, NewJob]], now: int) -> Operation[None]:
    """Let jobs, each by its id, hold a key as a new one asks."""
    rows: list[Row] = [
        (new.unique, id, now + new.spec.unique_for)
        for id, new in jobs
        if new.unique is not None and new.spec.unique_for > 0
    ]
    if rows:
        yield Bulk("hold_window", sorted(rows))


def free(ids: Iterable[str]) -> Operation[None]:
    """Jobs that were called off hold no key any more."""
    given = sorted(ids)
    if given:
        yield Statement("free_windows", {"ids": json_array(given)})


def let_go(ids: Iterable[str]) -> Operation[None]:
    """Take the unique keys off live jobs."""
    rows: list[Row] = [(id,) for id in sorted(ids)]
    if rows:
        yield Bulk("let_go", rows)


def unless_held(
    jobs: Sequence[Job], now: int, accept: Callable[[Sequence[Job]], Plan[Sequence[Receipt]]]
) -> Operation[Sequence[Receipt]]:
    """Restore jobs but for those whose key a window holds."""
    by_key = yield from held((job.unique for job in jobs if job.state in LIVE), now)
    if not by_key:
        return (yield from accept(jobs)(now))
    refused = [job.unique in by_key and job.state in LIVE for job in jobs]
    held_up = [job.id for job, no in zip(jobs, refused, strict=True) if no]
    # An id that is there says who stands for the job, before its key does.
    there = {job.id for job in (yield from lock(held_up))}
    refused = [no and job.id not in there for job, no in zip(jobs, refused, strict=True)]
    given = [job for job, no in zip(jobs, refused, strict=True) if not no]
    accepted = iter((yield from accept(given)(now)))
    return [
        Receipt(by_key[job.unique or ""], duplicate=True) if no else next(accepted)
        for job, no in zip(jobs, refused, strict=True)
    ]
