"""Wakes idle workers: at once for writes of this process, within milliseconds for others.

SQLite has no way to notify. It has a counter, `PRAGMA data_version`, that changes with
every commit of another connection and costs 3 µs to read: only a change of it leads to a
query. When to look at it is the question. Where the system tells of writes to a file, after
each of those to the log that every commit is written to; elsewhere every few milliseconds.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Final

from ...core.clock import Clock
from ...errors import StoreUnavailable
from ..sql.operation import Row
from ..sql.rows import json_array
from .connection import Connection
from .notice import Notice, notice_of

POLL: Final = 0.005
"""Seconds between two looks, at the least: a busy neighbour must not keep idle workers busy."""

CALM: Final = 0.1
"""Seconds between two looks while no write is told of, in case that one was missed."""

SETTLE: Final = (0.0003, 0.0006, 0.001, 0.002, *[POLL] * 8)
"""Naps between looks after a write was told of: it comes before the commit that it is part of."""


class Watch:
    """A read-only look at the file from the event loop; never takes a lock that blocks writers."""

    def __init__(self, connection: Connection, queries: Mapping[str, str], clock: Clock) -> None:
        self._connection = connection
        self._queries = queries
        self._clock = clock
        self._closed = False
        self._waiters: set[asyncio.Future[bool]] = set()
        # SQLite itself follows links before it names the log.
        self._log = f"{os.path.realpath(connection.path)}-wal"
        self._notice: Notice | None = None
        self._listening = False

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        wanted = json_array(list(queues)) if queues else None
        deadline = time.monotonic() + timeout
        while True:
            try:
                version = self._version()
                pause = self._until_work(wanted)
            except sqlite3.Error as error:
                raise StoreUnavailable(f"The SQLite file cannot be read: {error}.") from error
            until = deadline if pause is None else min(deadline, time.monotonic() + pause)
            if await self._unchanged(version, until) or time.monotonic() >= deadline:
                return

    def wake(self) -> None:
        """Let every waiter of this process look again, from whichever thread."""
        for waiter in tuple(self._waiters):
            waiter.get_loop().call_soon_threadsafe(_settle, waiter, True)

    def close(self) -> None:
        """End every wait; those who wait are told."""
        self._closed = True
        self.wake()
        self._connection.close()
        if self._notice is not None and not self._listening:
            self._notice.close()

    def _until_work(self, queues: str | None) -> float | None:
        """Seconds until a job can be claimed: 0 for now, None for not in sight."""
        if queues is None:
            pending, *dues = self._read(self._queries["ready_anywhere"])
        else:
            pending, *dues = self._read(self._queries["ready"], {"queues": queues})
        if pending:
            return 0
        soonest = [due for due in dues if due is not None]
        return max(0, (min(soonest) - self._clock()) / 1000) if soonest else None

    async def _unchanged(self, version: int, until: float) -> bool:
        """Sleep until the file changes (False) or the moment comes (True)."""
        listens = self._aim()
        naps = [POLL]
        while (left := until - time.monotonic()) > 0:
            if naps or not listens:
                woken = await self._nap(min(naps.pop() if naps else POLL, left))
            else:
                woken = await self._listen(min(CALM, left))
                naps = [] if woken is None else list(reversed(SETTLE))
            if woken or self._version() != version:
                return False
        return True

    def _aim(self) -> bool:
        """Whether writes to the file will be told of. Only one waiter at a time can listen."""
        if self._listening:
            return False
        # Not before somebody waits: a user can have only so many of them.
        if self._notice is None:
            self._notice = notice_of(self._log)
        return self._notice is not None and self._notice.aim()

    async def _listen(self, seconds: float) -> bool | None:
        """Sleep; False if a write to the file was told of, True if it was one of this process."""
        notice = self._notice
        if notice is None or self._listening:  # only one can
            return await self._nap(min(POLL, seconds))
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        self._listening = True
        loop.add_reader(notice.descriptor, _settle, waiter, False)
        try:
            return await self._nap(seconds, waiter)
        finally:
            self._listening = False
            loop.remove_reader(notice.descriptor)
            notice.clear()
            if self._closed:
                notice.close()

    async def _nap(self, seconds: float, waiter: asyncio.Future[bool] | None = None) -> bool | None:
        """Sleep; True if a write of this process cut it short, None if nothing did."""
        loop = asyncio.get_running_loop()
        waiter = waiter or loop.create_future()
        self._waiters.add(waiter)
        timer = loop.call_later(seconds, waiter.cancel)
        try:
            return await waiter
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return None
        finally:
            timer.cancel()
            self._waiters.discard(waiter)

    def _version(self) -> int:
        version: int = self._read("PRAGMA data_version")[0]
        return version

    def _read(self, sql: str, params: Mapping[str, str] | None = None) -> Row:
        if self._closed:
            raise StoreUnavailable("The store is closed; open it before use.")
        return self._connection.read(sql, params)


def _settle(waiter: asyncio.Future[bool], woken: bool) -> None:
    if not waiter.done():
        waiter.set_result(woken)
