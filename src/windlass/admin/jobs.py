"""`app.jobs`: the jobs of a store, looked for, counted and changed together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime, timedelta
from typing import ClassVar, Unpack

from ..client import get_job
from ..core.model import Job, Page
from ..core.options import JobLike, Options, id_of
from .change import CANCEL, Change, delete, fitting, prioritize, replaying, reschedule
from .section import Changed, JobSection, page_of
from .selection import JobFilter, selection_of


class Jobs(JobSection):
    """The jobs of a store.

    Which ones is said by ids, or by a filter: see `JobFilter`. Of a filter all has to hold.
    """

    NAME: ClassVar = "jobs"

    def find(self, limit: int | None = None, **which: Unpack[JobFilter]) -> Iterator[Job]:
        """All jobs that match, one after the other, page by page; at most `limit`.

        State by state; those that wait in the order in which they will run, finished ones newest
        first. One that stays where it is comes exactly once.
        """
        return self._found(selection_of(which), limit, "find")

    def afind(self, limit: int | None = None, **which: Unpack[JobFilter]) -> AsyncIterator[Job]:
        """The same for `async for`."""
        return self._afound(selection_of(which), limit)

    def list(self, limit: int = 100, cursor: str | None = None, **which: Unpack[JobFilter]) -> Page:
        """The first jobs that match, and a `cursor` to go on with if there may be more."""
        return page_of(self._block(self._look(selection_of(which), limit, cursor), "list"))

    async def alist(
        self, limit: int = 100, cursor: str | None = None, **which: Unpack[JobFilter]
    ) -> Page:
        """As `list`, in async code."""
        return page_of(await self._here(self._look(selection_of(which), limit, cursor)))

    def count(self, **which: Unpack[JobFilter]) -> int:
        """How many jobs match. By states and queue it is read; by more, all those are looked at."""
        return self._block(self._counting(selection_of(which)), "count")

    async def acount(self, **which: Unpack[JobFilter]) -> int:
        """As `count`, in async code."""
        return await self._here(self._counting(selection_of(which)))

    def get(self, id: JobLike) -> Job:
        """The job of an id; `UnknownJob` if there is none."""
        name = id_of(id)
        return self._block(lambda store: get_job(store, name), "get")

    async def aget(self, id: JobLike) -> Job:
        """As `get`, in async code."""
        name = id_of(id)
        return await self._here(lambda store: get_job(store, name))

    def cancel(self, *ids: JobLike, dry_run: bool = False, **which: Unpack[JobFilter]) -> Changed:
        """Call jobs off that have not ended."""
        return self._block(self._changing(CANCEL, ids, which, dry_run=dry_run), "cancel")

    async def acancel(
        self, *ids: JobLike, dry_run: bool = False, **which: Unpack[JobFilter]
    ) -> Changed:
        """As `cancel`, in async code."""
        return await self._here(self._changing(CANCEL, ids, which, dry_run=dry_run))

    def delete(self, *ids: JobLike, dry_run: bool = False, **which: Unpack[JobFilter]) -> Changed:
        """Remove jobs and all trace of them; one that runs has to be cancelled first."""
        return self._block(self._changing(_deletion(which), ids, which, dry_run=dry_run), "delete")

    async def adelete(
        self, *ids: JobLike, dry_run: bool = False, **which: Unpack[JobFilter]
    ) -> Changed:
        """As `delete`, in async code."""
        return await self._here(self._changing(_deletion(which), ids, which, dry_run=dry_run))

    def replay(self, *ids: JobLike, dry_run: bool = False, **which: Unpack[JobFilter]) -> Changed:
        """Make dead or cancelled jobs run again, with all their attempts.

        With one of a workflow comes back what is dead or cancelled of all of it.
        """
        change = replaying(self._wire.codecs)
        return self._block(self._changing(change, ids, which, dry_run=dry_run), "replay")

    async def areplay(
        self, *ids: JobLike, dry_run: bool = False, **which: Unpack[JobFilter]
    ) -> Changed:
        """As `replay`, in async code."""
        change = replaying(self._wire.codecs)
        return await self._here(self._changing(change, ids, which, dry_run=dry_run))

    def reschedule(
        self,
        *ids: JobLike,
        delay: float | timedelta = 0,
        at: datetime | None = None,
        dry_run: bool = False,
        **which: Unpack[JobFilter],
    ) -> Changed:
        """Give jobs that wait another time: so many seconds from now, or a moment."""
        act = self._changing(_another_time(delay, at), ids, which, dry_run=dry_run)
        return self._block(act, "reschedule")

    async def areschedule(
        self,
        *ids: JobLike,
        delay: float | timedelta = 0,
        at: datetime | None = None,
        dry_run: bool = False,
        **which: Unpack[JobFilter],
    ) -> Changed:
        """As `reschedule`, in async code."""
        act = self._changing(_another_time(delay, at), ids, which, dry_run=dry_run)
        return await self._here(act)

    def prioritize(
        self,
        *ids: JobLike,
        priority: int | str,
        dry_run: bool = False,
        **which: Unpack[JobFilter],
    ) -> Changed:
        """Give jobs that wait another priority, 0 to 100, or low, default or high."""
        act = self._changing(_another_priority(priority), ids, which, dry_run=dry_run)
        return self._block(act, "prioritize")

    async def aprioritize(
        self,
        *ids: JobLike,
        priority: int | str,
        dry_run: bool = False,
        **which: Unpack[JobFilter],
    ) -> Changed:
        """As `prioritize`, in async code."""
        act = self._changing(_another_priority(priority), ids, which, dry_run=dry_run)
        return await self._here(act)


def _deletion(which: JobFilter) -> Change:
    """What has gone on to another state since it was found stays."""
    states = selection_of(which).states
    return delete(frozenset(fitting(delete(), states))) if which else delete()


def _another_time(
    delay: float | timedelta, at: datetime | None
) -> Change | Callable[[int], Change]:
    options = Options().merged({"delay": delay} if at is None else {"at": at})
    if options.at is not None:
        return reschedule(0, options.at)
    # A moment for all of them: one that was changed is known by it when it is met again.
    return lambda now: reschedule(options.delay, now + options.delay)


def _another_priority(priority: int | str) -> Change:
    return prioritize(Options().merged({"priority": priority}).priority)
