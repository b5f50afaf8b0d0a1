"""A part of the administration of an app, for async code and for blocking code alike."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import msgspec

from ..core.model import Job, JobQuery, Page
from ..core.options import JobLike, id_of
from ..errors import InvalidOption, shown
from ..stores.contract import SCAN_BATCH, Store
from ..task import Registry, Wire
from .bulk import change_all, count
from .change import Change, change_jobs, fitting
from .eyes import Eyes
from .scan import Found, scan
from .selection import JobFilter, Selection, Sieve, selection_of

T = TypeVar("T")
Act = Callable[[Store], Coroutine[Any, Any, T]]


class Changed(msgspec.Struct, frozen=True):
    """What a change of jobs or workers came to."""

    count: int
    """how many were changed, or would be, of a dry run"""
    left: int = 0
    """how many were found and refused: a unique key that is taken, a claim just then"""
    ids: Sequence[str] = ()
    """of those that were named, the ones that were changed"""
    refused: Mapping[str, str] = {}
    """of those that were named, why some were not"""


class Section:
    """Calls the store of an app; `NAME` is what it is called there."""

    NAME: ClassVar[str]

    def __init__(self, wire: Wire, registry: Registry) -> None:
        self._wire = wire
        self._registry = registry

    @property
    def _eyes(self) -> Eyes:
        return Eyes(self._wire.codecs, self._registry)

    def _block(self, act: Act[T], call: str) -> T:
        names = f"app.{self.NAME}.{call}(…)", f"app.{self.NAME}.a{call}(…)"
        return self._wire.client.block(act, *names)

    async def _here(self, act: Act[T]) -> T:
        return await act(await self._wire.client.store())


class JobSection(Section):
    """One that finds and changes jobs."""

    def _look(self, selection: Selection, limit: int, cursor: str | None) -> Act[Found]:
        sieve = Sieve(selection, self._eyes)
        query = selection.query(checked_limit(limit), cursor)
        return lambda store: scan(store, query, sieve, bounded=False)

    def _found(self, selection: Selection, limit: int | None, call: str) -> Iterator[Job]:
        pages = self._pages(selection, None if limit is None else checked_limit(limit))
        return (job for look, take in pages for job in take(self._block(look, call)))

    def _afound(self, selection: Selection, limit: int | None) -> AsyncIterator[Job]:
        return self._along(selection, None if limit is None else checked_limit(limit))

    async def _along(self, selection: Selection, limit: int | None) -> AsyncIterator[Job]:
        for look, take in self._pages(selection, limit):
            for job in take(await self._here(look)):
                yield job

    def _pages(
        self, selection: Selection, limit: int | None
    ) -> Iterator[tuple[Act[Page], Callable[[Page], Sequence[Job]]]]:
        """How to look at one page after the other, and what to take of each."""
        sieve, left = Sieve(selection, self._eyes), limit
        query: JobQuery | None = selection.query(SCAN_BATCH)

        def take(page: Page) -> Sequence[Job]:
            nonlocal left, query
            assert query is not None
            passed = [job for job in page.jobs if sieve.passes(job)][:left]
            left = None if left is None else left - len(passed)
            past = bool(page.jobs) and sieve.ends(query.states, page.jobs[-1])
            done = page.cursor is None or past or left == 0
            query = None if done else msgspec.structs.replace(query, cursor=page.cursor)
            return passed

        while query is not None and left != 0:
            asked = query
            yield lambda store, asked=asked: store.find(asked), take  # type: ignore[misc]

    def _counting(self, selection: Selection) -> Act[int]:
        async def counted(store: Store) -> int:
            if not selection.narrowed:
                return await count(store, selection)
            number = 0
            for look, take in self._pages(selection, None):
                number += len(take(await look(store)))
            return number

        return counted

    def _changing(
        self,
        change: Change | Callable[[int], Change],
        ids: Sequence[JobLike],
        given: JobFilter,
        *,
        dry_run: bool,
        all: bool = False,
    ) -> Act[Changed]:
        """The change of the jobs that are named, or of all that match: of one of these."""
        named, selection = [id_of(each) for each in ids], selection_of(given)
        if bool(named) == bool(given or all):
            raise InvalidOption(
                "Say which jobs: their ids, or a filter such as queue='mail', and not both."
            )
        if named and dry_run:
            raise InvalidOption("dry_run goes with a filter: it counts what matches.")

        async def carried_out(store: Store) -> Changed:
            one = change(await store.now()) if not isinstance(change, Change) else change
            if not named:
                return await self._changing_selected(one, selection, store, dry_run=dry_run)
            answer = await change_jobs(store, one, named)
            done, refused = answer.changed, answer.refused
            return Changed(len(done), len(refused), done, refused)

        return carried_out

    async def _changing_selected(
        self, change: Change, selection: Selection, store: Store, *, dry_run: bool
    ) -> Changed:
        states = fitting(change, selection.states)
        chosen = msgspec.structs.replace(selection, states=states)
        sieve = Sieve(chosen, self._eyes)
        most = await count(store, chosen)
        total = await change_all(store, change, chosen, most, sieve=sieve, dry=dry_run)
        return Changed(total.changed, total.left)


def page_of(found: Found) -> Page:
    return Page(found.jobs, found.cursor)


def checked_limit(limit: Any) -> int:
    """How many jobs are asked for; what is no number above 0 is `InvalidOption`."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InvalidOption(f"limit is a whole number above 0; got {shown(limit)}.")
    return limit
