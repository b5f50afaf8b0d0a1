"""Queues: how full they are, and whether workers may claim from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

from ...admin.bulk import change_all, count
from ...admin.change import delete
from ...admin.moment import iso
from ...admin.queues import QueueInfo, look_at_queue, look_at_queues, purging, queue_info
from ...core.name import checked_name
from ...core.states import State
from ..pulse import Snapshot
from .call import Call

MOST_PURGED = 100_000


class QueueView(msgspec.Struct, frozen=True):
    """A queue as it is now."""

    name: str
    paused: bool
    counts: Mapping[State, int]
    """jobs in each state; states with none are left out"""
    oldest_at: str | None
    """since when the job waits that has been waiting longest"""
    age: float
    """the same in seconds; 0 if none waits"""


class QueueList(msgspec.Struct, frozen=True):
    """Every queue that has jobs or is paused, by name."""

    queues: Sequence[QueueView]


async def list_queues(call: Call[None, None]) -> QueueList:
    """List the queues, with how many jobs each has in which state."""
    return QueueList([_shown(queue) for queue in await look_at_queues(call.store)])


async def get_queue(call: Call[None, None]) -> QueueView:
    """Show one queue; one that nobody has used is empty."""
    return await _view(call, name_in(call))


async def pause_queue(call: Call[None, None]) -> QueueView:
    """Stop claims from a queue, for every worker, until it is resumed."""
    name = name_in(call)
    await call.store.pause(name)
    call.audit(queue=name)
    return await _view(call, name)


async def resume_queue(call: Call[None, None]) -> QueueView:
    """Allow claims from a queue again."""
    name = name_in(call)
    await call.store.resume(name)
    call.audit(queue=name)
    return await _view(call, name)


class Purge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to delete: jobs of these states, or all that wait; at most so many."""

    states: tuple[State, ...] = ()
    most: Annotated[int, msgspec.Meta(ge=1, le=MOST_PURGED)] = MOST_PURGED


class Changed(msgspec.Struct, frozen=True):
    """How many jobs were changed, how many were refused, and whether there may be more."""

    changed: int
    left: int
    more: bool


async def purge_queue(call: Call[None, Purge | None]) -> Changed:
    """Delete the jobs that wait in a queue, for good."""
    name, asked = name_in(call), call.body or Purge()
    chosen = purging(name, asked.states)
    call.caller.require_queue(name)
    most = await count(call.store, chosen)
    change = delete(frozenset(chosen.states))
    total = await change_all(call.store, change, chosen, min(most, asked.most))
    call.audit(queue=name, deleted=total.changed)
    return Changed(total.changed, total.left, most > asked.most)


def name_in(call: Call[Any, Any]) -> str:
    return checked_name(call.path["name"], "name of a queue")


def views(found: Snapshot) -> Sequence[QueueView]:
    return [_shown(queue_info(queue, found.oldest, found.at)) for queue in found.queues]


def _shown(queue: QueueInfo) -> QueueView:
    return QueueView(queue.name, queue.paused, queue.counts, iso(queue.oldest_at), queue.age)


async def _view(call: Call[Any, Any], name: str) -> QueueView:
    return _shown(await look_at_queue(call.store, name))
