"""Audits the store now and then, for `/metrics`: see `admin.doctor`."""

from __future__ import annotations

from collections import Counter
from typing import Final

from ..admin.doctor import diagnose, examine
from ..core.clock import system_clock
from ..service import Service
from ..stores.contract import Store
from .meter import Meter

INTERVAL: Final = 60.0
MOST: Final = 1_000
"""The most jobs of a kind that are looked at: `windlass doctor` looks at more."""


class Checkup(Service):
    """Tells the meter how many findings there are of each kind."""

    def __init__(self, store: Store, meter: Meter, interval: float = INTERVAL) -> None:
        super().__init__()
        self._store = store
        self._meter = meter
        self._interval = interval

    async def run(self) -> None:
        while not self.stopping:
            findings = diagnose(await examine(self._store, system_clock, MOST))
            self._meter.findings = Counter(finding.kind for finding in findings)
            await self.pause(self._interval)
