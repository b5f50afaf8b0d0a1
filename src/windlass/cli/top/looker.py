"""Looks at a store, within bounds: how much is asked does not grow with what is in it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from ...admin.attention import RECENT_MS, Situation
from ...admin.facts import look as look_at
from ...admin.leading import leaders_of
from ...admin.listing import list_jobs
from ...admin.record import full_record
from ...admin.why import explain
from ...core.codec import Codecs
from ...core.model import Job, JobQuery, QueueStats
from ...core.schedule import Schedule
from ...core.states import State
from ...core.stats import COARSE, FINE, WHOLE, StatPoint, bucket, summed
from ...core.workers import Term
from ...errors import UnknownJob
from ...stores.contract import Store
from ..job import lines
from .header import LONGEST_SPARK
from .look import Look, Opened, failed_at

MOST_JOBS: Final = 100
"""Active jobs, dead ones and ones to be retried that are listed."""

MOST_QUEUES: Final = 500
"""Queues of which more is asked than their counts; those that have most to do."""

RATED_QUEUES: Final = 50
"""Queues whose buckets are asked for: those that can be seen."""

SLOW_MS: Final = 10_000
"""How often those things are asked for that change slowly."""


class Looker:
    """Takes looks. What changes slowly is asked for now and then only."""

    def __init__(self, store: Store, codecs: Codecs) -> None:
        self._store = store
        self._codecs = codecs
        self._asked_at = 0
        self._schedules: Sequence[Schedule] = ()
        self._leaders: Mapping[str, Term] | None = None
        self._recent: Mapping[str, Mapping[str, int]] = {}

    async def look(self, visible: Sequence[str] | None = None, opened: str | None = None) -> Look:
        """One look; `visible` are the queues whose rates are wanted, the first ones if not told."""
        store = self._store
        now, queues, workers = await asyncio.gather(store.now(), store.queues(), store.workers())
        busiest = _busiest(queues)
        names = [queue.name for queue in queues] if visible is None else visible
        oldest, active, failed, points, known, _ = await asyncio.gather(
            store.oldest([queue.name for queue in busiest if queue.counts.get(State.PENDING)]),
            self._jobs(State.ACTIVE),
            self._failed(),
            self._points([WHOLE, *names[:RATED_QUEUES]], now),
            self._opened(opened, now),
            self._ask_now_and_then(now, [queue.name for queue in busiest]),
        )
        situation = Situation(
            now=now,
            queues=queues,
            oldest=oldest,
            workers=workers,
            schedules=self._schedules,
            leaders=self._leaders,
            recent=self._recent,
        )
        return Look(situation=situation, active=active, failed=failed, points=points, opened=known)

    async def _jobs(self, state: State) -> Sequence[Job]:
        return (
            await list_jobs(self._store, JobQuery(states=(state,), limit=MOST_JOBS, brief=True))
        ).jobs

    async def _failed(self) -> Sequence[Job]:
        dead, retry = await asyncio.gather(self._jobs(State.DEAD), self._jobs(State.RETRY))
        failed = [*dead, *(job for job in retry if job.error is not None)]
        return sorted(failed, key=failed_at, reverse=True)[:MOST_JOBS]

    async def _points(self, queues: Sequence[str], now: int) -> Mapping[str, Sequence[StatPoint]]:
        since = bucket(FINE, now) - LONGEST_SPARK * FINE
        points: dict[str, list[StatPoint]] = {queue: [] for queue in queues}
        for point in await self._store.stats(queues, FINE, since):
            points[point.queue].append(point)
        return points

    async def _ask_now_and_then(self, now: int, queues: Sequence[str]) -> None:
        if 0 <= now - self._asked_at < SLOW_MS:
            return
        since = bucket(COARSE, now - RECENT_MS)
        self._schedules, self._leaders, points = await asyncio.gather(
            self._store.schedules(),
            leaders_of(self._store),
            self._store.stats(queues, COARSE, since),
        )
        by_queue: dict[str, list[StatPoint]] = {}
        for point in points:
            by_queue.setdefault(point.queue, []).append(point)
        self._recent = {queue: summed(each) for queue, each in by_queue.items()}
        self._asked_at = now

    async def _opened(self, id: str | None, now: int) -> Opened | None:
        if id is None:
            return None
        try:
            facts = await look_at(self._store, id, now)
        except UnknownJob as error:
            return Opened(id, [str(error)])
        record = full_record(facts.job, self._codecs)
        return Opened(id, [explain(facts).sentence, "", *lines(facts.job, record)])


def _busiest(queues: Sequence[QueueStats]) -> Sequence[QueueStats]:
    if len(queues) <= MOST_QUEUES:
        return queues
    live = (State.PENDING, State.ACTIVE, State.RETRY, State.DEAD)
    weighed = sorted(queues, key=lambda queue: -sum(queue.counts.get(s, 0) for s in live))
    return weighed[:MOST_QUEUES]
