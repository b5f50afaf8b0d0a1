"""Brings the progress of running jobs to the store, now and then.

A handler may report as often as it likes: between two writes only its last word counts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from ..core.model import Lease, Progress, Transition
from ..errors import StoreUnavailable
from ..interrupts import uninterrupted
from ..service import Service
from ..stores.contract import Store

log = logging.getLogger("windlass")

INTERVAL: Final = 0.5


class Reporter(Service):
    """Collects reports and writes them in batches. `put` may be called from any thread."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._waiting: dict[Lease, Progress] = {}

    def put(self, lease: Lease, progress: Progress) -> None:
        with uninterrupted:
            self._waiting[lease] = progress

    async def run(self) -> None:
        while not self.stopping:
            await self.pause(INTERVAL)
            await self._write(list(self._waiting))

    async def flush(self, ending: Iterable[Transition]) -> None:
        """Write the last words of jobs that are to be finished: afterwards none is taken.

        Theirs alone: the others would be written as often as any job ends.
        """
        if self._waiting:
            leases = [Lease(each.id, each.fence) for each in ending]
            await self._write([lease for lease in leases if lease in self._waiting])

    async def _write(self, leases: list[Lease]) -> None:
        reports = {lease: self._waiting.pop(lease) for lease in leases}
        if not reports:
            return
        try:
            try:
                await self._store.report(list(reports.items()))
            except StoreUnavailable:
                raise
            except Exception:
                await self._write_each(reports)
        except BaseException:
            for lease, progress in reports.items():
                # What was said meanwhile is newer.
                self._waiting.setdefault(lease, progress)
            raise

    async def _write_each(self, reports: dict[Lease, Progress]) -> None:
        """Write reports that the store refused together; drop those that it refuses alone.

        Tried again for ever, one of them would hold up every job that ends in this worker.
        """
        for lease in list(reports):
            try:
                await self._store.report([(lease, reports[lease])])
            except StoreUnavailable:
                raise
            except Exception as error:
                log.warning("job %s: its progress cannot be stored: %s", lease.id, error)
            del reports[lease]
