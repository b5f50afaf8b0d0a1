"""Dead letters: grouped by what killed them, replayed, deleted or taken away as a group."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from ...admin.change import Change, delete, replaying
from ...admin.dead import DeadGroup, group_dead
from ...admin.moment import iso
from ...admin.selection import Sieve
from ...core.model import JobQuery, Page
from ...core.states import State
from ..faults import Draining
from .bulk import MOST, Most, Outcome, Where, change_round, start
from .call import Call, Lines
from .jobs import asked_queue, asked_task
from .shown import shown
from .sieve import Filters, sieve_of

LONGEST: Final = 0.15
"""Seconds for which dead jobs are looked at to be grouped."""

AT_ONCE: Final = 200
"""Jobs that are in memory at a time while they are taken away."""


class DeadQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which dead jobs to group."""

    queue: str | None = None
    task: str | None = None


class DeadGroupView(msgspec.Struct, frozen=True):
    """Dead jobs whose errors are alike."""

    fingerprint: str
    task: str
    kind: str
    pattern: str
    """what the errors say, with … for what differs"""
    count: int
    first_at: str | None
    last_at: str | None
    sample: str
    """the id of the one that died last"""


class DeadGroupList(msgspec.Struct, frozen=True):
    """The groups, largest first, of the `looked_at` newest; `complete` if there are no others."""

    groups: Sequence[DeadGroupView]
    looked_at: int
    complete: bool


async def list_dead_groups(call: Call[DeadQuery, None]) -> DeadGroupList:
    """Group dead jobs by the fingerprint of their errors."""
    queue, task = asked_queue(call.query.queue), asked_task(call.query.task)
    found = await group_dead(call.store, queue, task, longest=LONGEST)
    groups = [_group_view(group) for group in found.groups]
    return DeadGroupList(groups, found.looked_at, found.complete)


def _group_view(group: DeadGroup) -> DeadGroupView:
    fields = msgspec.structs.asdict(group)
    fields |= {"first_at": iso(group.first_at), "last_at": iso(group.last_at)}
    return DeadGroupView(**fields)


class Dead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which dead jobs: all of this has to hold; nothing means all."""

    fingerprint: str | None = None
    queue: str | None = None
    task: str | None = None
    most: Most = MOST
    cursor: str | None = None
    """where the round before said to go on"""
    dry: bool = False
    """change nothing, and count"""

    @property
    def where(self) -> Where:
        return Where(
            states=(State.DEAD,),
            queue=self.queue,
            task=self.task,
            fingerprint=self.fingerprint,
        )


async def replay_dead(call: Call[None, Dead]) -> Outcome:
    """Replay all dead jobs that match."""
    return await _changed(call, replaying(call.site.app.codecs))


async def delete_dead(call: Call[None, Dead]) -> Outcome:
    """Delete all dead jobs that match, for good."""
    return await _changed(call, delete(frozenset({State.DEAD})))


async def _changed(call: Call[None, Dead], change: Change) -> Outcome:
    asked = call.body
    place = await start(call, change, asked.where, asked.cursor)
    done = await change_round(call, change, asked.where, place, asked.most, dry=asked.dry)
    if not asked.dry:
        call.audit(where=asked.where, changed=done.changed)
    return done


class ExportQuery(DeadQuery, frozen=True, forbid_unknown_fields=True):
    """Which dead jobs to take away."""

    fingerprint: str | None = None


async def export_dead(call: Call[ExportQuery, None]) -> Lines:
    """Download dead jobs with their arguments, one in a line, newest first."""
    asked = call.query
    query = JobQuery(
        states=(State.DEAD,),
        queue=asked_queue(asked.queue),
        task=asked_task(asked.task),
        limit=AT_ONCE,
    )
    sieve = sieve_of(call.site, Filters(fingerprint=asked.fingerprint))
    # Looked at here, once: an outage is to be an answer of its own, not half a file.
    first = await call.store.find(query)
    return Lines(_exported(call, query, sieve, first), "dead.jsonl")


async def _exported(
    call: Call[Any, Any], query: JobQuery, sieve: Sieve, page: Page
) -> AsyncIterator[bytes]:
    while True:
        passed = [shown(call.site, job) for job in page.jobs if sieve.passes(job)]
        if passed:
            yield msgspec.json.Encoder().encode_lines(passed)
        if page.cursor is None:
            return
        if call.site.draining.is_set():
            raise Draining("The server is stopping; ask another one.")
        page = await call.store.find(replace(query, cursor=page.cursor))
