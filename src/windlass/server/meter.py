"""What `/metrics` tells: the store's queues and workers, and the requests of this server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from ..core.states import State
from ..stores.contract import Store
from .pulse import Snapshot, look

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST


class Meter:
    """Counts requests; asks the store when it is scraped."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter(
            "windlass_http_requests", "Requests by route.", labels, registry=self._registry
        )
        self._seconds = Histogram(
            "windlass_http_request_seconds",
            "How long requests took.",
            labels[:2],
            registry=self._registry,
        )
        self._counted: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        place = method, route, status
        counted = self._counted.get(place)
        if counted is None:
            # Looked up once: to find it by its labels costs more than to count.
            counted = self._counted[place] = (
                self._requests.labels(method, route, str(status)),
                self._seconds.labels(method, route),
            )
        counted[0].inc()
        counted[1].observe(seconds)

    async def scrape(self, store: Store) -> bytes:
        """The text that Prometheus reads."""
        registry = CollectorRegistry()
        registry.register(_Store(await look(store)))
        return generate_latest(registry) + generate_latest(self._registry)


class _Store(Collector):
    """One look at the store."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[Metric]:
        found = self._snapshot
        jobs = GaugeMetricFamily(
            "windlass_jobs", "Jobs by queue and state.", labels=("queue", "state")
        )
        age = GaugeMetricFamily(
            "windlass_queue_age_seconds",
            "How long the job that waits longest has been waiting.",
            labels=("queue",),
        )
        paused = GaugeMetricFamily(
            "windlass_queue_paused", "Whether the queue is paused.", labels=("queue",)
        )
        for queue in found.queues:
            for state in State:
                jobs.add_metric((queue.name, state.value), queue.counts.get(state, 0))
            since = found.oldest.get(queue.name)
            seconds = 0.0 if since is None else max(found.at - since, 0) / 1000
            age.add_metric((queue.name,), seconds)
            paused.add_metric((queue.name,), float(queue.paused))
        yield from (jobs, age, paused)
        workers = GaugeMetricFamily("windlass_workers", "Workers that were heard of.")
        workers.add_metric((), len(found.workers))
        yield workers
