"""`app.queues`: how full the queues are, and whether workers may claim from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from ..core.model import QueueStats
from ..core.name import checked_name
from ..core.states import WAITING, State
from ..errors import InvalidOption
from ..stores.contract import Store
from .bulk import change_all, count
from .change import delete
from .section import Act, Changed, Section
from .selection import JobFilter, Selection, selection_of

PURGED: Final = (State.BLOCKED, State.SCHEDULED, State.RETRY, State.PENDING)
"""In the order in which jobs move on: one that does so meanwhile is found all the same."""


class QueueInfo(msgspec.Struct, frozen=True):
    """A queue as it is now."""

    name: str
    paused: bool
    counts: Mapping[State, int]
    """jobs in each state; states with none are left out"""
    oldest_at: int | None = None
    """since when the job waits that has been pending longest, in milliseconds"""
    age: float = 0.0
    """the same in seconds; 0 if none waits"""

    @property
    def depth(self) -> int:
        """How many jobs wait, whatever for."""
        return sum(self.counts.get(state, 0) for state in WAITING)


def queue_info(queue: QueueStats, oldest: Mapping[str, int], now: int) -> QueueInfo:
    """A queue as one look at the store has found it."""
    since = oldest.get(queue.name)
    age = 0.0 if since is None else max(now - since, 0) / 1000
    return QueueInfo(queue.name, queue.paused, queue.counts, since, age)


async def look_at_queues(store: Store) -> Sequence[QueueInfo]:
    """Every queue that has jobs or is paused, by name."""
    queues = await store.queues()
    waiting = [queue.name for queue in queues if queue.counts.get(State.PENDING)]
    oldest = await store.oldest(waiting) if waiting else {}
    now = await store.now()
    return [queue_info(queue, oldest, now) for queue in queues]


async def look_at_queue(store: Store, name: str) -> QueueInfo:
    """One queue; one that nobody has used is empty."""
    found = {queue.name: queue for queue in await store.queues()}
    queue = found.get(name) or QueueStats(name, {})
    return queue_info(queue, await store.oldest([name]), await store.now())


class Switched(msgspec.Struct, frozen=True):
    """What pausing or resuming queues came to."""

    changed: Sequence[str]
    """those that were not so before"""
    unknown: Sequence[str]
    """those that have no jobs yet: mistyped, or to come"""


async def switch(store: Store, names: Iterable[str], *, paused: bool) -> Switched:
    """Pause or resume queues; what was so before stays so."""
    asked = list(dict.fromkeys(names))
    before = {queue.name: queue for queue in await store.queues()}
    for name in asked:
        await (store.pause(name) if paused else store.resume(name))
    was = {name for name in asked if name in before and before[name].paused}
    return Switched(
        [name for name in asked if (name in was) != paused],
        [name for name in asked if name not in before],
    )


def purging(queue: str, states: Sequence[State], task: str | None = None) -> Selection:
    """Which jobs a purge of a queue deletes: those that wait, or those in these states."""
    if State.ACTIVE in states:
        raise InvalidOption("Active jobs cannot be deleted; cancel them first.")
    return Selection(states=tuple(states) or PURGED, queue=queue, task=task)


class Queues(Section):
    """The queues of a store."""

    NAME: ClassVar = "queues"

    def list(self) -> Sequence[QueueInfo]:
        """Every queue that has jobs or is paused, by name."""
        return self._block(look_at_queues, "list")

    async def alist(self) -> Sequence[QueueInfo]:
        """As `list`, in async code."""
        return await self._here(look_at_queues)

    def get(self, name: str) -> QueueInfo:
        """One queue: its counts, its depth, how long the oldest job waits; empty if unused."""
        return self._block(_looking(name), "get")

    async def aget(self, name: str) -> QueueInfo:
        """As `get`, in async code."""
        return await self._here(_looking(name))

    def pause(self, *names: str) -> Switched:
        """Let no worker claim from these queues until they are resumed; jobs that run go on."""
        return self._block(_switching(names, paused=True), "pause")

    async def apause(self, *names: str) -> Switched:
        """As `pause`, in async code."""
        return await self._here(_switching(names, paused=True))

    def resume(self, *names: str) -> Switched:
        """Let workers claim from these queues again."""
        return self._block(_switching(names, paused=False), "resume")

    async def aresume(self, *names: str) -> Switched:
        """As `resume`, in async code."""
        return await self._here(_switching(names, paused=False))

    def purge(
        self,
        name: str,
        states: State | str | Iterable[State | str] = (),
        task: str | None = None,
        *,
        dry_run: bool = False,
    ) -> Changed:
        """Remove the jobs that wait in a queue, or those in these states, for good.

        Jobs that run are never touched, finished ones only if `states` asks for them.
        """
        return self._block(_purging(name, states, task, dry_run=dry_run), "purge")

    async def apurge(
        self,
        name: str,
        states: State | str | Iterable[State | str] = (),
        task: str | None = None,
        *,
        dry_run: bool = False,
    ) -> Changed:
        """As `purge`, in async code."""
        return await self._here(_purging(name, states, task, dry_run=dry_run))


def _looking(name: str) -> Act[QueueInfo]:
    checked_name(name, "name of a queue")
    return lambda store: look_at_queue(store, name)


def _switching(names: Sequence[str], *, paused: bool) -> Act[Switched]:
    if not names:
        raise InvalidOption("Name the queues, one or several.")
    for name in names:
        checked_name(name, "name of a queue")
    return lambda store: switch(store, names, paused=paused)


def _purging(
    name: str, states: State | str | Iterable[State | str], task: str | None, *, dry_run: bool
) -> Act[Changed]:
    given: JobFilter = {"queue": name, "states": states}
    asked = selection_of(given if task is None else {**given, "task": task})
    chosen = purging(name, asked.states, asked.task)

    async def purged(store: Store) -> Changed:
        change = delete(frozenset(chosen.states))
        total = await change_all(store, change, chosen, await count(store, chosen), dry=dry_run)
        return Changed(total.changed, total.left)

    return purged
