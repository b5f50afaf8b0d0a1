"""Dead jobs by what killed them: those whose errors are alike are one group."""

from __future__ import annotations

import time
from typing import Final

import msgspec

from ..core.likeness import error_fingerprint, pattern
from ..core.model import Failure, Job, JobQuery
from ..core.states import State
from ..stores.contract import SCAN_BATCH, Store

MOST_LOOKED_AT: Final = 10 * SCAN_BATCH
"""Where counting ends: the newest dead jobs say what is wrong now."""

NOTHING: Final = Failure("Unknown", "")


class DeadGroup(msgspec.Struct, frozen=True):
    """Dead jobs that are alike. Moments are milliseconds."""

    fingerprint: str
    task: str
    kind: str
    pattern: str
    """what the errors say, with … for what differs"""
    count: int
    first_at: int
    last_at: int
    sample: str
    """the id of the one that died last"""


class DeadGroups(msgspec.Struct, frozen=True):
    """The groups, largest first, of the `looked_at` newest; `complete` if there are no others."""

    groups: tuple[DeadGroup, ...]
    looked_at: int
    complete: bool


async def group_dead(
    store: Store,
    queue: str | None = None,
    task: str | None = None,
    most: int = MOST_LOOKED_AT,
    longest: float = float("inf"),
) -> DeadGroups:
    """Group the newest dead jobs, at most so many, and for about so many seconds."""
    groups: dict[str, DeadGroup] = {}
    looked_at, cursor, ends = 0, None, time.monotonic() + longest
    while looked_at < most:
        query = JobQuery(
            states=(State.DEAD,),
            queue=queue,
            task=task,
            limit=min(SCAN_BATCH, most - looked_at),
            cursor=cursor,
            brief=True,
        )
        page = await store.find(query)
        for job in page.jobs:
            _count(groups, job)
        looked_at += len(page.jobs)
        cursor = page.cursor
        if cursor is None or time.monotonic() >= ends:
            break
    largest = sorted(groups.values(), key=lambda each: (-each.count, -each.last_at))
    return DeadGroups(tuple(largest), looked_at, cursor is None)


def _count(groups: dict[str, DeadGroup], job: Job) -> None:
    error, at = job.error or NOTHING, job.finished_at or job.created_at
    key = error_fingerprint(job.task, error)
    group = groups.get(key)
    if group is None:
        said = pattern(error.message)
        groups[key] = DeadGroup(key, job.task, error.kind, said, 1, at, at, job.id)
        return
    newest = (at, job.id) if at > group.last_at else (group.last_at, group.sample)
    groups[key] = msgspec.structs.replace(
        group,
        count=group.count + 1,
        first_at=min(group.first_at, at),
        last_at=newest[0],
        sample=newest[1],
    )
