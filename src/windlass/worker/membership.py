"""Jobs that a running job adds to its own workflow."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from ..client import get_job
from ..core.codec import Codecs
from ..core.model import Job, NewJob
from ..core.options import JobLike, ids_of
from ..core.states import FINISHED
from ..core.step import Step
from ..errors import InvalidOption, UsageError, WouldBlock, WrongState
from ..interrupts import uninterrupted
from ..members import added, declared
from ..middleware import Stack
from ..stores.contract import Store
from ..sync import result_of
from ..workflows.outline import member, member_id, named, with_keys

ADDED_BY: Final = "windlass-added-by"
"""The header that says which job has added this one, and as its how manyth."""

LOOKS: Final = 50
LOOK: Final = 0.02


class Membership:
    """A running job's place in its workflow."""

    def __init__(
        self,
        job: Job,
        store: Store,
        codecs: Codecs,
        middleware: Stack,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._job = job
        self._store = store
        self._codecs = codecs
        self._middleware = middleware
        self._loop = loop
        self._turn = asyncio.Lock()
        self._asked = 0
        self._last = 0
        """the highest number that a job of the workflow is known to have"""
        self._known: dict[str, str] = {}
        """the ids of jobs that were added, by who has added them"""

    @property
    def id(self) -> str:
        return self._job.spec.workflow

    def add(
        self,
        step: Step[Any],
        *,
        takes: JobLike | Iterable[JobLike] = (),
        gathers: Iterable[JobLike] = (),
        after: JobLike | Iterable[JobLike] = (),
    ) -> str:
        if _running_loop() is self._loop:
            raise WouldBlock(
                "context.workflow.add(…) would block the running event loop; use `await "
                "context.workflow.aadd(…)` in an async handler."
            )
        adding = self._add(self._made(step, takes, gathers, after))
        with uninterrupted:
            return result_of(asyncio.run_coroutine_threadsafe(adding, self._loop))

    async def aadd(
        self,
        step: Step[Any],
        *,
        takes: JobLike | Iterable[JobLike] = (),
        gathers: Iterable[JobLike] = (),
        after: JobLike | Iterable[JobLike] = (),
    ) -> str:
        if _running_loop() is not self._loop:
            raise UsageError(
                "context.workflow.aadd(…) is for async handlers, on the event loop of the worker; "
                "in a blocking handler use context.workflow.add(…)."
            )
        return await self._add(self._made(step, takes, gathers, after))

    def _made(
        self,
        step: Step[Any],
        takes: JobLike | Iterable[JobLike],
        gathers: Iterable[JobLike],
        after: JobLike | Iterable[JobLike],
    ) -> NewJob:
        taken, gathered = ids_of(takes), ids_of(gathers)
        if taken and gathered:
            raise InvalidOption("A step either takes results or gathers them in a list, not both.")
        step.check(1 if gathered else len(taken))
        inputs = taken or gathered
        parents = [*dict.fromkeys([*inputs, *ids_of(after)])]
        return member(step, self.id, parents, len(inputs), gathers=bool(gathered))

    async def _add(self, asked: NewJob) -> str:
        async with self._turn:
            self._asked += 1
            mark = f"{self._job.id} {self._asked}"
            if not self._last:
                await self._look()
            if mark in self._known:
                return self._known[mark]
            headers = {**(asked.spec.headers or {}), ADDED_BY: mark}
            marked = replace(asked, spec=replace(asked.spec, headers=headers))
            (new,) = self._middleware.before([marked])
            try:
                return await self._insert(new, mark)
            except BaseException as error:
                self._middleware.events.rejected(new, error)
                raise

    async def _look(self) -> None:
        """Find the end of the list, and what an attempt before this one has added."""
        judge = await get_job(self._store, self.id)
        if judge.state in FINISHED:
            raise WrongState(f"Workflow {self.id} is {judge.state}: nothing can be added to it.")
        last = declared(self._codecs, judge)
        async for job in added(self._store, self.id, last):
            last = int(job.id.rpartition(".")[2])
            self._known[_mark(job)] = job.id
        self._last = last

    async def _insert(self, new: NewJob, mark: str) -> str:
        """Take the next number. If another job was quicker, take the one after."""
        while True:
            self._last += 1
            job = replace(named(new, member_id(self.id, self._last), self._codecs), fresh=False)
            *_, receipt = await self._store.insert([*with_keys([job])])
            # A duplicate can be this very job, of a call whose answer was lost.
            if not receipt.duplicate or await self._is_ours(job.id, mark):
                self._middleware.after([job], [receipt])
                return job.id

    async def _is_ours(self, id: str, mark: str) -> bool:
        """Whether a job that was there before is the one that was asked for."""
        for _ in range(LOOKS):
            job = (await self._store.get([id])).get(id)
            if job is not None:
                return _mark(job) == mark
            # Where ids are kept in several places, one can be taken before its job is seen.
            await asyncio.sleep(LOOK)
        return False


def _mark(job: Job) -> str:
    return (job.spec.headers or {}).get(ADDED_BY, "")


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
