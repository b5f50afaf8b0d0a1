"""Handlers that did not end when they were stopped, and are not waited for any more."""

from __future__ import annotations

import asyncio
import ctypes
import logging
from collections.abc import Mapping
from typing import Any, Final

from ..core.model import Job
from .executors.counted import counted
from .gathering import Gathering
from .hand import Claim

log = logging.getLogger("windlass")

_keep: Final = ctypes.pythonapi.Py_IncRef

LEAST_LEFT: Final = 10
"""A worker goes on beside so many of them, or as many as its concurrency if that is more."""


class Leftovers:
    """Attempts that are over while their coroutines go on, in slots of nobody."""

    def __init__(self, size: int) -> None:
        self.jobs: dict[Claim, Job] = {}
        self._most = max(size, LEAST_LEFT)

    def add(self, job: Job, task: asyncio.Task[Any], batch: Gathering | None) -> None:
        """Leave an attempt to itself."""
        self.jobs[job.id, job.fence] = job
        log.error(
            "job %s: the handler of %s goes on though it was cancelled, and is left to itself (%d)",
            job.id,
            job.task,
            len(self.jobs),
        )
        _abandon(task)
        if batch is not None and batch.call is not None:
            _abandon(batch.call)

    def end(self, job: Job) -> None:
        """One of them has ended after all."""
        del self.jobs[job.id, job.fence]
        log.warning("job %s: the handler of %s that was left to itself has ended", job.id, job.task)

    def fault(self) -> str | None:
        """What to say if they are too many for a worker to go on with; from any thread."""
        jobs = list(self.jobs.values())
        if len(jobs) < self._most:
            return None
        return (
            f"{len(jobs):,} async handlers were cancelled and do not end: "
            f"{counted(job.task for job in jobs)}."
        )


def leave_behind(
    running: Mapping[Claim, asyncio.Task[None]], batches: Mapping[Claim, Gathering]
) -> None:
    """Let go of commits that did not end in time, for the process ends now.

    `asyncio.run` would wait for them, and so for ever.
    """
    for (id, _), task in running.items():
        log.error("job %s: its handler went on when it was cancelled, and is left behind", id)
        _abandon(task)
    for batch in batches.values():
        if batch.call is not None:
            _abandon(batch.call)


def _abandon(task: asyncio.Task[Any]) -> None:
    """Let nobody wait for it, or end it: `asyncio.run` would, and so for ever.

    A coroutine that is freed is told to end. One that catches even that goes on where nothing can
    stop it, in the interpreter's own end. So it is never freed.
    """
    _keep(ctypes.py_object(task))
    asyncio._unregister_task(task)
    task._log_destroy_pending = False  # type: ignore[attr-defined]
