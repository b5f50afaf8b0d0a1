"""Handlers that did not end when they were cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from .gathering import Gathering
from .hand import Claim

log = logging.getLogger("windlass")


def leave_behind(
    running: Mapping[Claim, asyncio.Task[None]], batches: Mapping[Claim, Gathering]
) -> None:
    """Let go of handlers that did not end when they were cancelled.

    `asyncio.run` would wait for them, and so for ever.
    """
    for (id, _), task in running.items():
        log.error("job %s: its handler went on when it was cancelled, and is left behind", id)
        _abandon(task)
    for batch in batches.values():
        if batch.call is not None:
            _abandon(batch.call)


def _abandon(task: asyncio.Task[None]) -> None:
    asyncio._unregister_task(task)
    task._log_destroy_pending = False  # type: ignore[attr-defined]
