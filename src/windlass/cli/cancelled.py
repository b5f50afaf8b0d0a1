"""Brings what a command has cancelled into the statistics: no worker and no server counts it."""

from __future__ import annotations

import logging
from collections import Counter

from ..app import Windlass
from ..core import stats
from ..core.ids import new_id
from ..core.model import Job
from ..core.stats import Tally
from ..errors import WindlassError
from ..observe.events import Observer
from ..stores.contract import Store

log = logging.getLogger("windlass")


class Cancelled(Observer):
    """Counts what an app cancels from now on; of stores that are opened afterwards."""

    def __init__(self, app: Windlass) -> None:
        self._teller = f"command:{new_id()}"
        self._number = 0
        self._counts: Counter[str] = Counter()
        app.observe(self)

    def cancelled(self, job: Job) -> None:
        self._counts[job.queue] += 1

    async def tell(self, store: Store) -> None:
        """Tell the store. The jobs are cancelled already: to fail now would say they are not."""
        counts, self._counts = self._counts, Counter()
        if not counts:
            return
        self._number += 1
        tallies = [Tally(queue, {stats.CANCELLED: number}) for queue, number in counts.items()]
        try:
            await store.tally(self._teller, self._number, tallies)
        except WindlassError as error:
            log.warning("what was cancelled is missing in the statistics: %s", error)
