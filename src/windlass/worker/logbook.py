"""Brings what attempts came to and logged into the store, in batches, next to the acker.

An attempt that logs nothing and does not fail has no page and costs nothing. The page of one that
runs is written now and then, so that its lines can be seen and survive its worker; the last word
follows when the store has taken what the attempt came to.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Final

from msgspec.structs import replace

from ..core.attempts import AttemptRecord
from ..core.model import Job, Transition
from ..errors import StoreUnavailable, WindlassError
from ..observe.capture import attach, detach, line_of
from ..observe.logs import NOTHING
from ..service import Service
from ..stores.contract import Store
from .hand import Claim, Hand
from .page import FAILED, FIRST_WRITE, Page

log = logging.getLogger("windlass")

LARGEST_BATCH: Final = 200
LARGEST_TEXT: Final = 1024 * 1024
"""Letters of one batch, about."""

MOST_WAITING: Final = 1_000
"""So many pages wait for a store that does not answer; beyond that the oldest are lost."""


class Logbook(Service):
    """Keeps a page for each attempt that logs or fails. `capture` may be called from any thread.

    `keep` is in milliseconds, and 0 keeps nothing; `level` is the least that is captured. `runs`
    tells whether an attempt goes on: threads that it leaves behind may log for ever.
    """

    def __init__(
        self,
        store: Store,
        hand: Hand,
        worker: str,
        keep: int,
        level: int,
        runs: Callable[[Claim], bool],
    ) -> None:
        super().__init__()
        self.pages: dict[Claim, Page] = {}
        """of attempts that have not ended, or whose end is not written"""
        self.ear = self.capture if keep and level < NOTHING else None
        """`capture`, if anything is"""
        self._store = store
        self._hand = hand
        self._worker = worker
        self._keep = keep
        self._level = level
        self._runs = runs
        self._lock = threading.Lock()
        self._ended: deque[Page] = deque()
        self._some = asyncio.Event()

    def start(self) -> None:
        if self.ear is not None:
            attach(self)
        super().start()

    async def stop(self) -> None:
        if self.ear is not None and not self.stopping:
            detach(self)
        await super().stop()

    def capture(self, job: Job, record: logging.LogRecord) -> None:
        """Note a line of an attempt that is running."""
        if record.levelno < self._level:
            return
        line, claim = line_of(record), (job.id, job.fence)
        with self._lock:
            page = self.pages.get(claim)
            if page is None:
                if not self._runs(claim):
                    return
                page = self.pages[claim] = Page(job)
            page.add(line)

    def over(self, job: Job, move: Transition | None) -> None:
        """An attempt has ended; None if its lease was lost.

        While the job is in hand it is the acker who finds out whether that counts.
        """
        claim = (job.id, job.fence)
        page = self.pages.get(claim)
        if page is None:
            if not self._keep or move is None or move.state not in FAILED:
                return
            page = self.pages[claim] = Page(job)
        page.end(move)
        if job.lease not in self._hand:
            self._close(claim, lost=move is None)

    def settle(self, moves: Iterable[Transition], held: frozenset[str]) -> None:
        """The store has taken these, or refused those that are not held."""
        for move in moves:
            claim = (move.id, move.fence)
            if claim in self.pages:
                self._close(claim, lost=move.id not in held)

    async def run(self) -> None:
        looked = time.monotonic()
        while not self.stopping:
            with suppress(TimeoutError):
                left = looked + FIRST_WRITE - time.monotonic()
                await asyncio.wait_for(self._some.wait(), max(left, 0.0))
            await self._write_some()
            # By the clock: where other jobs log, there may never be a second without an end.
            if time.monotonic() - looked >= FIRST_WRITE:
                looked = time.monotonic()
                await self._write_running()

    async def drain(self, timeout: float) -> None:
        """Write what is left; what cannot be written by then is lost, and no job with it."""
        try:
            async with asyncio.timeout(timeout):
                await self._write_ended()
        except (TimeoutError, StoreUnavailable):
            log.warning("what %d attempt(s) logged could not be written", len(self._ended))

    def _close(self, claim: Claim, *, lost: bool) -> None:
        with self._lock:
            page = self.pages.pop(claim)
        page.is_lost = lost
        if not lost or page.lines:
            self._ended.append(page)
            self._some.set()
        while len(self._ended) > MOST_WAITING:
            self._ended.popleft()

    async def _write_running(self) -> None:
        now = time.monotonic()
        for claim, page in [*self.pages.items()]:
            if not self._runs(claim) and page.job.lease not in self._hand:
                # Of a thread that was left behind and spoke in the very moment of the end.
                self.pages.pop(claim, None)
            elif page.is_due(now):
                with self._lock:
                    record = page.record(self._worker)
                    page.written(now)
                await self._note([record], self._keep)

    async def _write_ended(self) -> None:
        while self._ended:
            await self._write_some()

    async def _write_some(self) -> None:
        if self._ended:
            batch = self._batch()
            try:
                await self._write(batch)
            except BaseException:
                self._ended.extendleft(reversed(batch))
                raise
        if not self._ended:
            self._some.clear()

    def _batch(self) -> list[Page]:
        batch, letters = [self._ended.popleft()], 0
        while self._ended and len(batch) < LARGEST_BATCH:
            letters += batch[-1].lines.letters
            if letters > LARGEST_TEXT:
                break
            batch.append(self._ended.popleft())
        return batch

    async def _write(self, pages: Sequence[Page]) -> None:
        lost = [page for page in pages if page.is_lost]
        if lost:
            await self._note(await self._beside(lost), self._keep)
        counted = sorted((page.keep(self._keep), n) for n, page in enumerate(pages))
        for keep, numbers in groupby(counted, key=lambda each: each[0]):
            these = [pages[n] for _, n in numbers if not pages[n].is_lost]
            if these:
                await self._note([page.record(self._worker) for page in these], keep)

    async def _beside(self, lost: Sequence[Page]) -> Sequence[AttemptRecord]:
        """Records of attempts that do not count: who took the job over may have said why."""
        records = []
        known = await self._known([page.job.id for page in lost])
        for page in lost:
            record = page.record(self._worker)
            for told in known.get(record.id, ()):
                if told.fence == record.fence and told.ended_at is not None:
                    record = replace(told, lines=record.lines, dropped=record.dropped)
            records.append(record)
        return records

    async def _known(self, ids: Sequence[str]) -> Mapping[str, Sequence[AttemptRecord]]:
        try:
            return await self._store.attempts(ids)
        except StoreUnavailable:
            raise
        except WindlassError:
            return {}  # a server that lets this worker write it and not read it

    async def _note(self, records: Sequence[AttemptRecord], keep: int) -> None:
        try:
            await self._store.note_attempts(records, keep)
        except StoreUnavailable:
            raise
        except Exception as error:
            # What is refused would be refused again, and those behind it would wait for ever.
            refused = [error] if len(records) == 1 else await self._note_each(records, keep)
            if refused:
                number = len(refused)
                log.error("what %d attempt(s) came to cannot be kept: %s", number, refused[0])

    async def _note_each(self, records: Sequence[AttemptRecord], keep: int) -> list[Exception]:
        """Write records one by one, since the store has refused them together; why some cannot."""
        refused: list[Exception] = []
        for record in records:
            try:
                await self._store.note_attempts([record], keep)
            except StoreUnavailable:
                raise
            except Exception as error:
                refused.append(error)
        return refused
