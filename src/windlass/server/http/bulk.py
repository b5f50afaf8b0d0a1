"""The same change to many jobs: by their ids, or all that match, a bounded number at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from ...admin.bulk import Selection, change_all, count
from ...admin.change import CANCEL, REPLAY, Change, change_jobs, delete
from ...admin.dead import DeadGroup, group_dead
from ...admin.moment import iso
from ...core.ids import checked_id
from ...core.states import State
from ...errors import InvalidOption
from ..faults import TooLarge
from ..offer import Seconds
from .call import Call
from .changes import Moment
from .jobs import asked_queue, asked_task
from .queues import Changed

MOST: Final = 10_000
MOST_NAMED: Final = 20
"""So many ids of one request are written into the audit log."""

Most = Annotated[int, msgspec.Meta(ge=1, le=MOST)]


class Where(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which jobs: all of this has to hold."""

    states: tuple[State, ...] = ()
    queue: str | None = None
    task: str | None = None
    fingerprint: str | None = None


class Action(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to do, and with which jobs: `ids`, or all that match `where`, at most `most`."""

    action: Literal["cancel", "replay", "delete", "reschedule"]
    ids: tuple[str, ...] | UnsetType = UNSET
    where: Where | UnsetType = UNSET
    most: Most = MOST
    delay: Seconds | UnsetType = UNSET


class Outcome(msgspec.Struct, frozen=True):
    """How many jobs were changed; of those given by ids, why some were not."""

    changed: int
    left: int
    more: bool
    """whether there may be others that match: do it again"""
    refused: Mapping[str, str] = {}


async def change_many(call: Call[None, Action]) -> Outcome:
    """Cancel, replay, delete or reschedule many jobs."""
    asked = call.body
    change = _change(asked)
    if (asked.ids is UNSET) == (asked.where is UNSET):
        raise InvalidOption("Give ids or where, one of them.")
    if asked.ids is not UNSET:
        outcome = await _by_ids(call, change, asked.ids)
    else:
        assert asked.where is not UNSET
        done = await _matching(call, change, asked.where, asked.most)
        outcome = Outcome(done.changed, done.left, done.more)
    about = {"where": asked.where} if asked.ids is UNSET else {"ids": asked.ids[:MOST_NAMED]}
    call.audit(action=asked.action, **about, changed=outcome.changed)
    return outcome


def _change(asked: Action) -> Change:
    if asked.delay is not UNSET and asked.action != "reschedule":
        raise InvalidOption("delay goes with the action reschedule.")
    match asked.action:
        case "cancel":
            return CANCEL
        case "replay":
            return REPLAY
        case "delete":
            return delete()
        case "reschedule":
            return Moment(delay=asked.delay).change()


async def _by_ids(call: Call[Any, Any], change: Change, ids: tuple[str, ...]) -> Outcome:
    if len(ids) > MOST:
        raise TooLarge(f"One request takes {MOST:,} ids; this one has {len(ids):,}.")
    answer = await change_jobs(call.store, change, [checked_id(id) for id in ids])
    return Outcome(len(answer.changed), len(answer.refused), False, answer.refused)


async def _matching(call: Call[Any, Any], change: Change, where: Where, most: int) -> Changed:
    states = tuple(state for state in where.states or tuple(State) if state in change.states)
    if not states:
        raise InvalidOption(
            f"No job can be {change.done} that is {', '.join(where.states)}; it must be "
            f"{', '.join(sorted(change.states))}."
        )
    selection = Selection(
        states=states,
        queue=asked_queue(where.queue),
        task=asked_task(where.task),
        fingerprint=where.fingerprint,
    )
    there = await count(call.store, selection)
    total = await change_all(call.store, change, selection, min(there, most))
    return Changed(total.changed, total.left, total.changed + total.left >= most)


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
    found = await group_dead(call.store, queue, task)
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

    @property
    def where(self) -> Where:
        return Where((State.DEAD,), self.queue, self.task, self.fingerprint)


async def replay_dead(call: Call[None, Dead]) -> Changed:
    """Replay all dead jobs that match."""
    done = await _matching(call, REPLAY, call.body.where, call.body.most)
    call.audit(where=call.body.where, changed=done.changed)
    return done


async def delete_dead(call: Call[None, Dead]) -> Changed:
    """Delete all dead jobs that match, for good."""
    change = delete(frozenset({State.DEAD}))
    done = await _matching(call, change, call.body.where, call.body.most)
    call.audit(where=call.body.where, changed=done.changed)
    return done
