"""Brings what was counted of jobs to the store, for the statistics that people look at.

One call now and then, and none while there is nothing new. What was not told for certain is told
again under the same number, so that the store adds it but once.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from ..core import stats
from ..core.stats import Tally
from ..errors import StoreError
from ..observe.ledger import BOUNDS, OTHER, Ledger, Row
from ..service import Service
from ..stores.contract import Store

log = logging.getLogger("windlass")

INTERVAL: Final = 5.0

PLAIN: Final = (
    stats.COMPLETED,
    stats.FAILED,
    stats.RETRIED,
    stats.DEAD,
    stats.CANCELLED,
    stats.RESCUED,
)
_RUN: Final = [stats.timed("run", bound) for bound in (*BOUNDS, float("inf"))]
_WAIT: Final = [stats.timed("wait", bound) for bound in (*BOUNDS, float("inf"))]


class Unsent:
    """What ledgers have counted and the store does not know yet. It outlives connections."""

    def __init__(self, teller: str, *ledgers: Ledger) -> None:
        self._ledgers = ledgers
        self._told: dict[str, Counter[str]] = {}
        self._under_way: Sequence[Tally] = ()
        self.teller = teller
        self.number = 0

    def next(self) -> Sequence[Tally]:
        """What to tell now, under `number`: the same again until it was `taken`."""
        if not self._under_way:
            self._under_way = self._news()
            self.number += bool(self._under_way)
        return self._under_way

    def taken(self) -> None:
        self._under_way = ()

    def _news(self) -> Sequence[Tally]:
        news = []
        for queue, counts in totals(*self._ledgers).items():
            new = counts - self._told.get(queue, Counter())
            if new:
                self._told[queue] = counts
                news.append(Tally(queue, new))
        return news


def totals(*ledgers: Ledger) -> Mapping[str, Counter[str]]:
    """All that ledgers have, by queue, under the names that the store gets to see."""
    found: dict[str, Counter[str]] = {}
    rows = chain.from_iterable(list(ledger.rows.items()) for ledger in ledgers)
    for (queue, _), row in rows:
        counts = found.setdefault(stats.WHOLE if queue == OTHER else queue, Counter())
        _add(counts, row)
    return found


def _add(counts: Counter[str], row: Row) -> None:
    for name in PLAIN:
        counts[name] += getattr(row, name)
    for names, spread in ((_RUN, row.run), (_WAIT, row.wait)):
        for name, number in zip(names, spread.counts, strict=True):
            counts[name] += number


class Tallier(Service):
    """Tells the store every few seconds, and once more at the end."""

    def __init__(self, store: Store, unsent: Unsent) -> None:
        super().__init__()
        self._store = store
        self._unsent = unsent

    async def run(self) -> None:
        while not self.stopping:
            await self.pause(INTERVAL)
            await self._tell()

    async def stop(self) -> None:
        await super().stop()
        try:
            await self._tell()
        except StoreError as error:
            log.warning("the last jobs are missing in the statistics: %s", error)

    async def _tell(self) -> None:
        tallies = self._unsent.next()
        if tallies:
            await self._store.tally(self._unsent.teller, self._unsent.number, tallies)
            self._unsent.taken()
