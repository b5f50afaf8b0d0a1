"""Waits for jobs to change, for everybody at once.

No engine tells when a job has ended, so somebody has to look. A job that many wait for is looked
at once; looks are close together at first, and never more than `MOST_LOOKS` a second in all,
however many wait.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from ..core.model import Job, size_of
from ..core.states import FINISHED
from ..members import in_parts
from ..service import Service
from ..stores.contract import Store

FIRST_LOOK: Final = 0.01
SLOWEST_LOOK: Final = 0.25
SLOWER: Final = 1.5
MOST_LOOKS: Final = 1_000
NEWS_BYTES: Final = 16 * 1024 * 1024
"""What is told of several jobs at once; of the others when it is asked again."""

GATHERED: Final = 0.05
"""The part of the longest pause by which a look may come early, to share one with others."""

Mark = tuple[Any, ...]
"""What is compared to see that a job has changed."""


def mark_of(job: Job | None) -> Mark:
    """None of a job that is not there."""
    if job is None:
        return ()
    return job.state, job.attempt, job.fence, job.due, job.progress, job.waits_for, job.awaits


class Watched(msgspec.Struct):
    """A job that somebody waits for."""

    pause: float = FIRST_LOOK
    due: float = 0.0
    """when it is looked at next; other places that it has in the heap do not count"""
    waiting: list[tuple[Mark | None, asyncio.Future[Job | None]]] = []
    """each with what it knows of the job; None for who waits for its end"""


class Watcher(Service):
    """Looks at jobs for all that wait for one."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._watched: dict[str, Watched] = {}
        self._due: list[tuple[float, str]] = []
        self._more = asyncio.Event()

    async def change(self, id: str, known: Mark, timeout: float) -> Job | None:
        """The job once it is other than `known`, or as it is after `timeout` seconds.

        None if it is not there.
        """
        return await self._wait(id, known, timeout)

    async def end(self, id: str, timeout: float) -> Job | None:
        """The job once it is finished, or as it is after `timeout` seconds; None if not there."""
        return await self._wait(id, None, timeout)

    async def changes(self, known: Mapping[str, Mark], timeout: float) -> Mapping[str, Job | None]:
        """Some of those of several jobs that are other than known, once one is; none after
        `timeout` s."""
        news = await self._news(known)
        if news or timeout <= 0 or self.stopping:
            return news
        future: asyncio.Future[Job | None] = asyncio.get_running_loop().create_future()
        for id, mark in known.items():
            self._enter(id, mark, future)
        try:
            async with asyncio.timeout(timeout):
                await future
        except TimeoutError:
            return {}
        except asyncio.CancelledError:
            if not self.stopping or not future.cancelled():
                raise
        finally:
            for id in known:
                self._leave(id, future)
        return await self._news(known)

    async def _news(self, known: Mapping[str, Mark]) -> Mapping[str, Job | None]:
        news: dict[str, Job | None] = {}
        async for part in in_parts(self._store, list(known)):
            news |= {id: job for id, job in part.items() if mark_of(job) != known[id]}
            if sum(size_of(job) for job in news.values() if job is not None) > NEWS_BYTES:
                break
        return news

    def release(self) -> None:
        """Let nobody wait any longer: each gets the job as it is."""
        self._stopping.set()
        self._more.set()
        for watched in self._watched.values():
            for _, future in watched.waiting:
                future.cancel()

    async def _wait(self, id: str, known: Mark | None, timeout: float) -> Job | None:
        job = (await self._store.get([id])).get(id)
        if _is_news(job, known) or timeout <= 0 or self.stopping:
            return job
        future: asyncio.Future[Job | None] = asyncio.get_running_loop().create_future()
        self._enter(id, known, future)
        try:
            async with asyncio.timeout(timeout):
                return await future
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            if not self.stopping or not future.cancelled():
                raise
        finally:
            self._leave(id, future)
        return (await self._store.get([id])).get(id)

    def _enter(self, id: str, known: Mark | None, future: asyncio.Future[Job | None]) -> None:
        watched = self._watched.get(id)
        if watched is None:
            watched = self._watched[id] = Watched()
            self._look_later(id, watched)
        watched.waiting.append((known, future))

    def _leave(self, id: str, future: asyncio.Future[Job | None]) -> None:
        watched = self._watched.get(id)
        if watched is not None:
            watched.waiting = [each for each in watched.waiting if each[1] is not future]
            if not watched.waiting:
                # Its place in the heap finds nothing when its time comes.
                del self._watched[id]

    def _look_later(self, id: str, watched: Watched) -> None:
        watched.due = asyncio.get_running_loop().time() + watched.pause
        heapq.heappush(self._due, (watched.due, id))
        watched.pause = min(watched.pause * SLOWER, self._slowest)
        self._more.set()

    @property
    def _slowest(self) -> float:
        return max(SLOWEST_LOOK, len(self._watched) / MOST_LOOKS)

    async def run(self) -> None:
        while not self.stopping:
            self._more.clear()
            if not self._due:
                await self._more.wait()
                continue
            left = self._due[0][0] - asyncio.get_running_loop().time()
            if left <= 0:
                await self._look()
                continue
            with suppress(TimeoutError):
                # Whoever comes meanwhile may be due before.
                await asyncio.wait_for(self._more.wait(), left)

    async def _look(self) -> None:
        # Looks are gathered: what is due a moment later shares this one.
        moment = max(FIRST_LOOK, self._slowest * GATHERED)
        soon, ids = asyncio.get_running_loop().time() + moment, dict[str, None]()
        while self._due and self._due[0][0] <= soon:
            due, id = heapq.heappop(self._due)
            if id in self._watched and self._watched[id].due == due:
                ids[id] = None
        try:
            async for part in in_parts(self._store, list(ids)):
                for id, job in part.items():
                    self._tell(id, job)
        finally:
            # Also after an outage: whoever waits goes on waiting.
            for id in ids:
                if id in self._watched:
                    self._look_later(id, self._watched[id])

    def _tell(self, id: str, job: Job | None) -> None:
        watched = self._watched.get(id)
        for known, future in watched.waiting if watched else ():
            if _is_news(job, known) and not future.done():
                future.set_result(job)


def _is_news(job: Job | None, known: Mark | None) -> bool:
    if known is None:
        return job is None or job.state in FINISHED
    return mark_of(job) != known


def of_interest(jobs: Sequence[Job]) -> Mapping[str, Mark]:
    """What a client that has seen these jobs knows of them."""
    return {job.id: mark_of(job) for job in jobs}
