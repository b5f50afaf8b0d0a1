"""What `/metrics` tells: the store's queues and workers, and what this server has done."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from typing import Final, NamedTuple

from prometheus_client.core import Metric as Family

from ..admin.doctor import KINDS, Kind
from ..admin.facts import served_by
from ..core.model import QueueStats
from ..core.states import LIVE, State
from ..core.workers import WorkerInfo
from ..observe.exposition import text
from ..observe.figures import Figures
from ..observe.ledger import OTHER, Ledger, Spread
from ..observe.prometheus import (
    CONTENT_TYPE,
    Metrics,
    counter,
    families,
    gauge,
    histogram,
)
from ..stores.contract import Store
from .pulse import Snapshot, look

__all__ = ["CONTENT_TYPE", "Meter"]

MOST_LANES: Final = 100
"""So many are looked at for one scrape: to count what waits in each takes the store its time."""

MOST_QUEUES: Final = 200
"""Queues that are told of by name; the others are one, `OTHER`."""

MOST_WORKERS: Final = 500
"""The same for workers."""

FRESH: Final = 1.0
"""Seconds for which one look at the store serves all who scrape."""

Looked = tuple[Snapshot, Mapping[str, int]]


class _Look(NamedTuple):
    """A look at the store, under way or done, and when it began."""

    at: float
    found: asyncio.Future[Looked]


class Meter:
    """Counts requests; asks the store when it is scraped."""

    def __init__(self, ledger: Ledger) -> None:
        self.metrics = Metrics(ledger)
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._seconds: dict[tuple[str, str], Spread] = {}
        self.findings: Mapping[Kind, int] = {}
        """of the last checkup"""
        self._looks: dict[frozenset[str], _Look] = {}
        """by the queues that whoever scrapes may see"""

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests[method, route, str(status)] += 1
        spread = self._seconds.get((method, route))
        if spread is None:
            spread = self._seconds[method, route] = Spread()
        spread.note(seconds)

    async def scrape(self, store: Store, queues: frozenset[str]) -> bytes:
        """The text that Prometheus reads; with `queues`, of these alone."""
        found, waiting = await self._looked(store, queues)
        # In a thread: with many queues and tasks it takes long enough for others to notice.
        return await asyncio.to_thread(self._text, found, waiting, queues)

    def _looked(self, store: Store, queues: frozenset[str]) -> Awaitable[Looked]:
        """A look at the store, which those who scrape at the same time share."""
        now = time.monotonic()
        self._looks = {
            scope: look
            for scope, look in self._looks.items()
            if now - look.at < FRESH or not look.found.done()
        }
        if queues not in self._looks:
            found = asyncio.gather(look(store), _waiting(store))
            self._looks[queues] = _Look(now, found)
        return asyncio.shield(self._looks[queues].found)

    def _text(self, found: Snapshot, waiting: Mapping[str, int], queues: frozenset[str]) -> bytes:
        own = families(_visible(self.metrics.figures(), queues))
        return text(chain(of_the_store(found, waiting), own, self._own()))

    def _own(self) -> Iterator[Family]:
        yield gauge("findings", (((kind,), self.findings.get(kind, 0)) for kind in KINDS))
        yield counter("http_requests_total", sorted(self._requests.items()))
        yield histogram("http_request_seconds", sorted(self._seconds.items()))


async def _waiting(store: Store) -> Mapping[str, int]:
    """How many jobs wait for a limit, by queue."""
    waiting: Counter[str] = Counter()
    for each in (await store.lanes(MOST_LANES)).lanes:
        waiting[each.queue] += each.waiting
    return waiting


def _visible(figures: Figures, queues: frozenset[str]) -> Figures:
    if queues:
        figures.rows = {key: row for key, row in figures.rows.items() if key[0] in queues}
    return figures


def of_the_store(found: Snapshot, waiting: Mapping[str, int]) -> Iterator[Family]:
    """The metrics of one look at it."""
    names = [queue.name for queue in found.queues]
    crews = served_by(found.workers, names)
    shown = _told(found.queues)
    many = len(shown) < len(names)
    name_of = {name: name if name in shown else OTHER for name in names}
    jobs, ages = Counter[tuple[str, str]](), dict[str, float]()
    paused, crew = dict[str, bool](), dict[str, set[str]]()
    for queue in found.queues:
        name = name_of[queue.name]
        for state in State:
            jobs[name, state.value] += queue.counts.get(state, 0)
        ages[name] = max(ages.get(name, 0.0), _age(found, queue.name))
        paused[name] = paused.get(name, False) or queue.paused
        crew.setdefault(name, set()).update(worker.id for worker in crews[queue.name])
    limited = Counter[str]()
    for name, number in waiting.items():
        limited[name_of.get(name, OTHER if many else name)] += number
    # With many queues most of the counts are zeros, and say nothing.
    yield gauge("jobs", ((key, number) for key, number in jobs.items() if number or not many))
    yield gauge("queue_age_seconds", (((name,), age) for name, age in ages.items()))
    yield gauge("queue_paused", (((name,), is_paused) for name, is_paused in paused.items()))
    yield gauge("queue_workers", (((name,), len(ids)) for name, ids in crew.items()))
    yield gauge("limit_waiting", (((name,), number) for name, number in sorted(limited.items())))
    yield gauge("workers", [((), len(found.workers))])
    active = _active(found.workers)
    yield gauge("worker_active", (((name,), number) for name, number in active.items()))


def _told(queues: Sequence[QueueStats]) -> frozenset[str]:
    """The queues that are told of by their names: those with most jobs that are not over."""
    if len(queues) <= MOST_QUEUES:
        return frozenset(queue.name for queue in queues)
    busiest = nsmallest(MOST_QUEUES, queues, key=lambda queue: (-_live(queue), queue.name))
    return frozenset(queue.name for queue in busiest)


def _live(queue: QueueStats) -> int:
    return sum(queue.counts.get(state, 0) for state in (*LIVE, State.DEAD))


def _active(workers: Sequence[WorkerInfo]) -> Mapping[str, int]:
    """How many jobs each runs, and the idlest of too many together."""
    by_name = {worker.id: worker.active for worker in workers}
    if len(by_name) <= MOST_WORKERS:
        return by_name
    busiest = nsmallest(MOST_WORKERS, by_name, key=lambda id: (-by_name[id], id))
    told = {id: by_name[id] for id in busiest}
    return {**told, OTHER: sum(by_name.values()) - sum(told.values())}


def _age(found: Snapshot, queue: str) -> float:
    since = found.oldest.get(queue)
    return 0.0 if since is None else max(found.at - since, 0) / 1000
