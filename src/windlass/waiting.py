"""Waiting for a job to end: how often to look at it, and what to say if it does not begin."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from math import isnan
from typing import Final

from .client import Client, Reason, get_job
from .core.model import Job
from .core.states import FINISHED, State
from .errors import InvalidOption, ResultTimeout, shown
from .stores.contract import Store

log = logging.getLogger("windlass")

FIRST_LOOK: Final = 0.005
SLOWEST_LOOK: Final = 0.25

FIRST_WORD: Final = 5.0
"""Seconds after which it is asked why the job does not run; then after twice as long each time."""

STUCK: Final = frozenset({"no_worker", "quiet", "paused"})
"""Reasons that do not pass by themselves, by their codes."""

Check = Callable[[Job], None]
"""Raises for a job that is not the one which was meant."""


def wait(client: Client, id: str, timeout: float | None, check: Check, call: str, also: str) -> Job:
    """The job once it is finished, for a blocking caller; `also` is the async name of the call."""
    waits = _Wait(client, id, timeout)
    while True:
        job = client.block(lambda store: get_job(store, id), call, also)
        check(job)
        if job.state in FINISHED:
            return job
        if waits.is_over():
            raise waits.end(job, client.block(waits.reason, call, also))
        if waits.is_long(job):
            waits.tell(job, client.block(waits.reason, call, also))
        time.sleep(waits.pause())


async def await_end(client: Client, id: str, timeout: float | None, check: Check) -> Job:
    """The same for an async caller."""
    waits = _Wait(client, id, timeout)
    while True:
        store = await client.store()
        job = await get_job(store, id)
        check(job)
        if job.state in FINISHED:
            return job
        if waits.is_over():
            raise waits.end(job, await waits.reason(store))
        if waits.is_long(job):
            waits.tell(job, await waits.reason(store))
        await asyncio.sleep(waits.pause())


class _Wait:
    """When to look next, when to speak, and when to give up."""

    def __init__(self, client: Client, id: str, timeout: float | None) -> None:
        self._client = client
        self._id = id
        self._timeout = _checked(timeout)
        self._began = time.monotonic()
        self._pauses = _pauses()
        self._word = FIRST_WORD

    def is_over(self) -> bool:
        return self._timeout is not None and self._waited() >= self._timeout

    def is_long(self, job: Job) -> bool:
        """Whether to ask now why the job does not run; of those in one queue one asks for all."""
        if self._waited() < self._word:
            return False
        self._word *= 2
        return job.state is not State.ACTIVE and self._client.notices.is_due(job.queue)

    def pause(self) -> float:
        """Seconds until the next look."""
        pause = next(self._pauses)
        if self._timeout is None:
            return pause
        return max(0.0, min(pause, self._timeout - self._waited()))

    async def reason(self, store: Store) -> Reason | None:
        """Why the job does not run. Who only asks whether it is finished gets no answer."""
        return None if self._timeout == 0 else await self._client.reason(store, self._id)

    def tell(self, job: Job, reason: Reason | None) -> None:
        """Say it in the log if it will not pass by itself."""
        code = reason.code if reason is not None and reason.code in STUCK else ""
        if self._client.notices.is_new(job.queue, code) and reason is not None:
            text = "job %s of %s still waits after %.0f s: %s"
            log.warning(text, job.id, job.task, self._waited(), reason.sentence)

    def end(self, job: Job, reason: Reason | None) -> ResultTimeout:
        why = "" if reason is None else reason.sentence
        text = f"Job {job.id} was not finished within {self._timeout:g} s, it is {job.state}."
        return ResultTimeout(f"{text} {why}".rstrip(), why=why)

    def _waited(self) -> float:
        return time.monotonic() - self._began


def _checked(timeout: float | None) -> float | None:
    """What is no number would never be over."""
    is_number = isinstance(timeout, int | float) and not isnan(timeout)
    if timeout is None or is_number:
        return timeout
    raise InvalidOption(
        "timeout is a number of seconds, or None to wait as long as it takes; "
        f"got {shown(timeout)}."
    )


def _pauses() -> Iterator[float]:
    """Short at first, and bounded."""
    pause = FIRST_LOOK
    while True:
        yield pause
        pause = min(pause * 1.5, SLOWEST_LOOK)
