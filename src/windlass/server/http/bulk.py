"""The same change to many jobs: by their ids, or all that match, a bounded number at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from ...admin.bulk import count
from ...admin.change import (
    CANCEL,
    Change,
    change_jobs,
    delete,
    fitting,
    prioritize,
    replaying,
    reschedule,
)
from ...admin.rounds import change_some
from ...admin.selection import Selection
from ...core.codec import Codecs
from ...core.ids import checked_id
from ...core.model import NEVER, Job, JobQuery
from ...core.options import CHECKS, Options
from ...core.states import State
from ...errors import InvalidOption
from ...stores.cursor import decode, encode, refusal
from ..faults import TooLarge
from ..offer import Priority, Seconds
from .call import Call
from .jobs import asked_queue, asked_task
from .sieve import Filters, sieve_of

MOST: Final = 10_000
MOST_NAMED: Final = 20
"""So many ids of one request are written into the audit log."""

Most = Annotated[int, msgspec.Meta(ge=1, le=MOST)]


class Where(Filters, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which jobs: all of this has to hold."""

    states: tuple[State, ...] = ()
    queue: str | None = None
    task: str | None = None


class Action(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to do, and with which jobs: `ids`, or all that match `where`, at most `most`."""

    action: Literal["cancel", "replay", "delete", "reschedule", "priority"]
    ids: tuple[str, ...] | UnsetType = UNSET
    where: Where | UnsetType = UNSET
    most: Most = MOST
    cursor: str | None = None
    """where the round before said to go on"""
    dry: bool = False
    """change nothing, and count"""
    delay: Seconds | UnsetType = UNSET
    """of reschedule"""
    priority: Priority | UnsetType = UNSET
    """of priority"""


class Outcome(msgspec.Struct, frozen=True):
    """How many jobs were changed; of those given by ids, why some were not."""

    changed: int
    left: int
    """found, and refused"""
    more: bool
    """whether there may be others that match: do it again, with the cursor"""
    cursor: str | None = None
    looked_at: int = 0
    """jobs that were looked at in this round"""
    of: int = 0
    """jobs that there were to look at before the first one"""
    refused: Mapping[str, str] = {}


class Place(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Where a change of many goes on: what holds for all its rounds, and the store's own cursor."""

    began: Annotated[int, msgspec.Meta(ge=0, le=NEVER)]
    """what was created later is not touched, or there might be no end"""
    of: int
    cursor: str | None = None


async def change_many(call: Call[None, Action]) -> Outcome:
    """Cancel, replay, delete, reschedule or prioritize many jobs."""
    asked = call.body
    if (asked.ids is UNSET) == (asked.where is UNSET):
        raise InvalidOption("Give ids or where, one of them.")
    if asked.ids is not UNSET:
        outcome = await _by_ids(call, asked.ids)
    else:
        assert asked.where is not UNSET
        codecs = call.site.app.codecs
        place = await start(call, _change(asked, codecs), asked.where, asked.cursor)
        change = _change(asked, codecs, place.began)
        if asked.action == "delete":
            # What has gone on to another state since it was found stays.
            change = delete(frozenset(fitting(change, asked.where.states)))
        outcome = await change_round(call, change, asked.where, place, asked.most, dry=asked.dry)
    if not asked.dry:
        about = {"where": asked.where} if asked.ids is UNSET else {"ids": asked.ids[:MOST_NAMED]}
        call.audit(action=asked.action, **about, changed=outcome.changed)
    return outcome


def _change(asked: Action, codecs: Codecs, began: int | None = None) -> Change:
    """The change that is asked for; `began` makes a moment of a delay, the same in every round."""
    if asked.delay is not UNSET and asked.action != "reschedule":
        raise InvalidOption("delay goes with the action reschedule.")
    if (asked.priority is UNSET) == (asked.action == "priority"):
        raise InvalidOption("priority goes with the action priority, and has to be given there.")
    match asked.action:
        case "cancel":
            return CANCEL
        case "replay":
            return replaying(codecs)
        case "delete":
            return delete()
        case "priority":
            assert asked.priority is not UNSET
            return prioritize(CHECKS["priority"](asked.priority))
        case "reschedule":
            delay = 0.0 if asked.delay is UNSET else asked.delay
            checked = Options().merged({"delay": delay}).delay
            return reschedule(checked, None if began is None else began + checked)


async def _by_ids(call: Call[None, Action], ids: tuple[str, ...]) -> Outcome:
    change = _change(call.body, call.site.app.codecs)
    if call.body.dry or call.body.cursor is not None:
        raise InvalidOption("dry and cursor go with where.")
    if len(ids) > MOST:
        raise TooLarge(f"One request takes {MOST:,} ids; this one has {len(ids):,}.")
    answer = await change_jobs(call.store, change, [checked_id(id) for id in ids])
    changed, left = len(answer.changed), len(answer.refused)
    return Outcome(changed, left, False, None, changed + left, changed + left, answer.refused)


async def start(call: Call[Any, Any], change: Change, where: Where, cursor: str | None) -> Place:
    """Where a round begins."""
    if cursor is None:
        selection = Selection(states=fitting(change, where.states), queue=where.queue)
        return Place(await call.store.now(), await count(call.store, selection))
    place = decode(cursor, Place)
    if place is None:
        raise refusal()
    return place


async def change_round(
    call: Call[Any, Any],
    change: Change,
    where: Where,
    place: Place,
    most: int,
    *,
    dry: bool = False,
) -> Outcome:
    """Change what matches, for about a second."""
    sieve = sieve_of(call.site, where)

    def passes(job: Job) -> bool:
        return job.created_at <= place.began and sieve.passes(job)

    query = JobQuery(
        states=fitting(change, where.states),
        queue=asked_queue(where.queue),
        task=asked_task(where.task),
        limit=most,
        cursor=place.cursor,
        brief=not where.argument,
    )
    done = await change_some(call.store, change, query, passes, dry=dry)
    more = done.cursor is not None
    cursor = encode(Place(place.began, place.of, done.cursor)) if more else None
    return Outcome(done.changed, done.left, more, cursor, done.looked_at, place.of)
