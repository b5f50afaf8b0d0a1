"""Live events: what changes, told as it does.

Without jobs, `queues` and `workers` come whenever something about them is different, the first time
at once. With jobs, each of them comes as `job` whenever it has changed, the first time at once, and
at last `end`. Every event has the whole of what it is about, so a client that comes back has missed
nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import msgspec

from ...admin.record import record
from ...core.ids import checked_id
from ...core.model import Job
from ...core.states import FINISHED
from ...errors import InvalidOption
from ...members import get_brief
from ..caller import Caller
from ..pulse import Snapshot, look
from ..scope import visible
from ..watch import Mark, mark_of
from .call import Call, Events
from .crew import worker_view
from .queues import views

MOST_FOLLOWED: Final = 100
LONGEST: Final = 3_600.0

Event = tuple[str, bytes]


class EventsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to follow: these jobs, or the whole store."""

    job: tuple[str, ...] = ()


async def follow(call: Call[EventsQuery, None]) -> Events:
    """Follow the store, or some jobs, as server-sent events."""
    ids = [checked_id(id) for id in dict.fromkeys(call.query.job)]
    if len(ids) > MOST_FOLLOWED:
        raise InvalidOption(
            f"At most {MOST_FOLLOWED} jobs can be followed at a time, and this names {len(ids)}."
        )
    # Looked at here, once: an outage is to be an answer of its own, not the end of a stream.
    if not ids:
        return Events(_store(call, await look(call.site.store)))
    found = await get_brief(call.store, ids)
    return Events(_jobs(call, {id: found.get(id) for id in ids}))


async def _store(call: Call[Any, Any], snapshot: Snapshot) -> AsyncIterator[Event]:
    known: dict[str, Any] = {}
    while True:
        for event in _news(snapshot, call.caller, known):
            yield event
        snapshot = await call.site.pulse.next()


def _news(snapshot: Snapshot, caller: Caller, known: dict[str, Any]) -> list[Event]:
    """What is different from what a client knows, which is noted."""
    parts = snapshot.shown.get(caller.queues)
    if parts is None:
        parts = snapshot.shown[caller.queues] = _parts(visible(snapshot, caller))
    news = []
    for name, mark, data in parts:
        if known.get(name, ...) != mark:
            known[name] = mark
            news.append((name, data))
    return news


def _parts(seen: Snapshot) -> list[tuple[str, Any, bytes]]:
    """The events of which some are news: the name, what is compared, and the data of each."""
    # Ages and beats always change; they are told along, but are no news by themselves.
    busy = [
        (each.id, each.queues, each.active, each.quiet, each.order, each.fault)
        for each in seen.workers
    ]
    workers = [worker_view(worker) for worker in seen.workers]
    encode = msgspec.json.encode
    return [
        ("queues", (seen.queues, seen.oldest), encode({"queues": views(seen)})),
        ("workers", busy, encode({"workers": workers})),
    ]


async def _jobs(call: Call[Any, Any], news: Mapping[str, Job | None]) -> AsyncIterator[Event]:
    known: dict[str, Mark] = {}
    while True:
        for id, job in news.items():
            known[id] = mark_of(job)
            if job is None or job.state in FINISHED:
                del known[id]
            gone = {"id": id, "state": None}
            yield "job", msgspec.json.encode(gone if job is None else record(job))
        if not known:
            yield "end", b"{}"
        if not known or call.site.draining.is_set():
            return
        news = await call.site.watcher.changes(known, LONGEST)
