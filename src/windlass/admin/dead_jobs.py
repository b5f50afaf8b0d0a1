"""`app.dead`: jobs that failed for good, in groups of what killed them, replayed or deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any, ClassVar, Unpack

from msgspec.structs import replace

from ..client import get_job
from ..core.clock import to_ms
from ..core.model import Job, Page
from ..core.options import JobLike, id_of
from ..core.states import State
from ..errors import InvalidOption, seconds
from ..handle import JobHandle
from ..stores.contract import Store
from .change import DELETE_DEAD, replaying
from .dead import DeadGroups, group_dead
from .edit import Edit, edited, put_in_place
from .record import FullRecord, full_record
from .section import Act, Changed, JobSection, page_of
from .selection import JobFilter, Selection, selection_of


class DeadJobs(JobSection):
    """The dead jobs of a store. They stay until somebody replays or deletes them."""

    NAME: ClassVar = "dead"

    def find(self, limit: int | None = None, **which: Unpack[JobFilter]) -> Iterator[Job]:
        """All dead jobs that match, newest first, page by page; at most `limit`."""
        return self._found(_dead(which), limit, "find")

    def afind(self, limit: int | None = None, **which: Unpack[JobFilter]) -> AsyncIterator[Job]:
        """The same for `async for`."""
        return self._afound(_dead(which), limit)

    def list(self, limit: int = 100, cursor: str | None = None, **which: Unpack[JobFilter]) -> Page:
        """The first dead jobs that match, and a `cursor` to go on with if there may be more."""
        return page_of(self._block(self._look(_dead(which), limit, cursor), "list"))

    async def alist(
        self, limit: int = 100, cursor: str | None = None, **which: Unpack[JobFilter]
    ) -> Page:
        """As `list`, in async code."""
        return page_of(await self._here(self._look(_dead(which), limit, cursor)))

    def count(self, **which: Unpack[JobFilter]) -> int:
        """How many dead jobs match."""
        return self._block(self._counting(_dead(which)), "count")

    async def acount(self, **which: Unpack[JobFilter]) -> int:
        """As `count`, in async code."""
        return await self._here(self._counting(_dead(which)))

    def groups(self, queue: str | None = None, task: str | None = None) -> DeadGroups:
        """The newest dead jobs in groups whose errors are alike, the largest first.

        The `fingerprint` of a group is a filter for all that can be done here.
        """
        return self._block(_grouping(queue, task), "groups")

    async def agroups(self, queue: str | None = None, task: str | None = None) -> DeadGroups:
        """As `groups`, in async code."""
        return await self._here(_grouping(queue, task))

    def replay(
        self,
        *ids: JobLike,
        all: bool = False,
        dry_run: bool = False,
        **which: Unpack[JobFilter],
    ) -> Changed:
        """Make dead jobs run again with all their attempts: those named, `all`, or all that match.

        With one of a workflow comes back what is dead or cancelled of all of it.
        """
        return self._block(self._replaying(ids, which, all=all, dry_run=dry_run), "replay")

    async def areplay(
        self,
        *ids: JobLike,
        all: bool = False,
        dry_run: bool = False,
        **which: Unpack[JobFilter],
    ) -> Changed:
        """As `replay`, in async code."""
        return await self._here(self._replaying(ids, which, all=all, dry_run=dry_run))

    def replay_with(self, id: JobLike, **changes: Unpack[Edit]) -> JobHandle[Any]:
        """Replay a job with other arguments or options: a new job takes its place.

        What is left out stays as it was. A job of a workflow is `WrongState`: others know its id.
        """
        return self._handle(self._block(self._editing(id, changes), "replay_with"))

    async def areplay_with(self, id: JobLike, **changes: Unpack[Edit]) -> JobHandle[Any]:
        """As `replay_with`, in async code."""
        return self._handle(await self._here(self._editing(id, changes)))

    def delete(
        self,
        *ids: JobLike,
        all: bool = False,
        dry_run: bool = False,
        **which: Unpack[JobFilter],
    ) -> Changed:
        """Remove dead jobs for good: those named, `all`, or all that match."""
        return self._block(self._deleting(ids, which, all=all, dry_run=dry_run), "delete")

    async def adelete(
        self,
        *ids: JobLike,
        all: bool = False,
        dry_run: bool = False,
        **which: Unpack[JobFilter],
    ) -> Changed:
        """As `delete`, in async code."""
        return await self._here(self._deleting(ids, which, all=all, dry_run=dry_run))

    def purge(
        self,
        older_than: float | timedelta | None = None,
        *,
        dry_run: bool = False,
        **which: Unpack[JobFilter],
    ) -> Changed:
        """Remove all dead jobs that match, or those that died longer ago than so many seconds."""
        return self._block(self._purging(older_than, which, dry_run=dry_run), "purge")

    async def apurge(
        self,
        older_than: float | timedelta | None = None,
        *,
        dry_run: bool = False,
        **which: Unpack[JobFilter],
    ) -> Changed:
        """As `purge`, in async code."""
        return await self._here(self._purging(older_than, which, dry_run=dry_run))

    def export(self, **which: Unpack[JobFilter]) -> Iterator[FullRecord]:
        """Dead jobs with their arguments and errors as plain data, for `msgspec.json.encode`."""
        found = self._found(_dead(which), None, "export")
        return (full_record(job, self._wire.codecs) for job in found)

    def aexport(self, **which: Unpack[JobFilter]) -> AsyncIterator[FullRecord]:
        """The same for `async for`."""
        found = self._afound(_dead(which), None)
        return (full_record(job, self._wire.codecs) async for job in found)

    def _handle(self, id: str) -> JobHandle[Any]:
        return JobHandle(self._wire.client, self._wire.codecs, id, lambda value, _: value)

    def _replaying(
        self, ids: tuple[JobLike, ...], which: JobFilter, *, all: bool, dry_run: bool
    ) -> Act[Changed]:
        given = which if ids else _only_dead(which, all=all)
        change = replaying(self._wire.codecs)
        return self._changing(change, ids, given, dry_run=dry_run, all=all)

    def _deleting(
        self, ids: tuple[JobLike, ...], which: JobFilter, *, all: bool, dry_run: bool
    ) -> Act[Changed]:
        given = which if ids else _only_dead(which, all=all)
        return self._changing(DELETE_DEAD, ids, given, dry_run=dry_run, all=all)

    def _purging(
        self, older_than: float | timedelta | None, which: JobFilter, *, dry_run: bool
    ) -> Act[Changed]:
        chosen = _dead(which)
        age = None if older_than is None else to_ms(seconds(older_than, "older_than"))
        if age is not None and chosen.until is not None:
            raise InvalidOption("Give older_than or until, not both.")

        async def purged(store: Store) -> Changed:
            until = chosen.until if age is None else await store.now() - age
            return await self._changing_selected(
                DELETE_DEAD, replace(chosen, until=until), store, dry_run=dry_run
            )

        return purged

    def _editing(self, id: JobLike, changes: Edit) -> Act[str]:
        name = id_of(id)

        async def replaced(store: Store) -> str:
            old = await get_job(store, name)
            new = edited(self._wire, self._registry, old, changes)
            return await put_in_place(store, self._wire, old, new)

        return replaced


def _grouping(queue: str | None, task: str | None) -> Act[DeadGroups]:
    asked = {name: value for name, value in (("queue", queue), ("task", task)) if value is not None}
    chosen = selection_of(asked)  # type: ignore[arg-type]
    return lambda store: group_dead(store, chosen.queue, chosen.task)


def _only_dead(which: JobFilter, *, all: bool) -> JobFilter:
    """The filter for dead jobs; without one and without `all` it is up to the caller to refuse."""
    if "states" in which:
        raise InvalidOption("app.dead is about dead jobs: for other states there is app.jobs.")
    return {"states": State.DEAD, **which} if which or all else {}


def _dead(which: JobFilter) -> Selection:
    return selection_of(_only_dead(which, all=True))
