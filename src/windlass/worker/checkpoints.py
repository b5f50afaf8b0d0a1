"""Brings what handlers leave for their next attempt to the store, and stops those who may not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from ..core.binding import CHECKPOINT
from ..core.codec import Codecs, decode_result, encode_result, too_large
from ..core.model import Job, Lease
from ..core.transaction import held_path
from ..errors import LeaseLost, UsageError, WouldBlock
from ..interrupts import uninterrupted
from ..stores.contract import Store
from ..sync import result_of


class StoredCheckpoints:
    """The checkpoints of a worker's jobs, in its store. Written at once: nothing is collected,
    for what a handler was told is kept must be."""

    def __init__(
        self, store: Store, codecs: Codecs, limit: int, lose: Callable[[Lease], None]
    ) -> None:
        self._store = store
        self._codecs = codecs
        self._limit = limit
        self._lose = lose
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def state(self, job: Job) -> Any:
        if job.checkpoint is None:
            return None
        codec = self._codecs.get(job.spec.content_type)
        return decode_result(codec, job.checkpoint, CHECKPOINT, job.id, job.task)

    def keep(self, job: Job, value: Any) -> None:
        if threading.get_ident() == self._thread:
            raise WouldBlock(
                "context.checkpoint(…) would block the running event loop; use `await "
                "context.acheckpoint(…)` in an async handler."
            )
        writing = self._write(job, self._encoded(job, value))
        with uninterrupted:
            result_of(asyncio.run_coroutine_threadsafe(writing, self._loop))

    async def akeep(self, job: Job, value: Any) -> None:
        if asyncio.get_running_loop() is not self._loop:
            raise UsageError(
                "context.acheckpoint(…) is for async handlers, on the event loop of the worker; "
                "in a blocking handler use context.checkpoint(…)."
            )
        await self._write(job, self._encoded(job, value))

    def _encoded(self, job: Job, value: Any) -> bytes:
        if held_path() is not None:
            raise UsageError(
                "A checkpoint would have to wait for the transaction of its own handler, which has "
                "the SQLite file to itself: leave it before or after that."
            )
        codec = self._codecs.get(job.spec.content_type)
        record = encode_result(codec, value, CHECKPOINT, job.id, job.task)
        if len(record) > self._limit:
            raise too_large(f"The checkpoints of {job.task}", record, self._limit)
        return record

    async def _write(self, job: Job, record: bytes) -> None:
        if job.id in await self._store.checkpoint([(job.lease, record)]):
            return
        self._lose(job.lease)
        # Where that has cancelled this very task, it ends here, as it would anywhere else.
        await asyncio.sleep(0)
        raise LeaseLost(
            f"Job {job.id} was cancelled or belongs to another worker by now: its checkpoint is "
            "not kept."
        )
