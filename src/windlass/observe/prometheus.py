"""What Prometheus scrapes: an observer that counts, and the metrics that are made of its numbers.

Jobs are not counted here but taken from the ledgers of workers, which count them anyway: to have
metrics costs a job nothing. Everything becomes a metric only when it is scraped.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.core import Metric as Family
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from ..core.model import Job, Lease, NewJob, Receipt
from ..core.schedule import Schedule
from ..errors import UsageError
from .catalogue import METRICS, PREFIX
from .events import Observer, Working
from .figures import Calls, Figures
from .ledger import BOUNDS, COUNTS, SCRAPED, Ledger, Spread

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
ROLE: Final = "upkeep"

_SCRAPED_AT: Final = [(str(float(bound)), BOUNDS.index(bound)) for bound in SCRAPED]


class Metrics(Observer, Collector):
    """Give one to `app.observe`; `registry` has it alone, and others may register it too."""

    def __init__(self, *ledgers: Ledger) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(self)
        self.asked = Ledger()
        """what calls of this process have done to jobs: `enqueued` and `cancelled`"""
        self._ledgers = [self.asked, *ledgers]
        self._workers: list[Working] = []
        """those that have not stopped; what the others counted is in `_own`"""
        self._lock = threading.Lock()
        self._scraping = threading.Lock()
        self._own = Figures(leads={ROLE: False})
        self._started: dict[tuple[str, str], int] = {}

    # -- what it is told -----------------------------------------------------------------

    def working(self, worker: Working) -> None:
        with self._lock:
            self._workers.append(worker)

    def enqueued(self, job: NewJob, receipt: Receipt) -> None:
        if not receipt.duplicate:
            self._count_enqueued(job.queue, job.spec.task)

    def cancelled(self, job: Job) -> None:
        with self._lock:
            self.asked.row(job.queue, job.spec.task).cancelled += 1

    def ticked(self, schedule: Schedule, receipt: Receipt, lag: float) -> None:
        if not receipt.duplicate:
            self._count_enqueued(schedule.queue, schedule.spec.task)
        with self._lock:
            self._own.lag.note(lag)

    def missed(self, schedule: Schedule, number: int) -> None:
        with self._lock:
            self._own.missed += number

    def renewed_late(self, leases: Sequence[Lease], seconds: float) -> None:
        with self._lock:
            self._own.late += 1

    def led(self, role: str, leads: bool) -> None:
        with self._lock:
            self._own.leads[role] = leads

    def called(self, call: str, seconds: float, error: BaseException | None) -> None:
        with self._lock:
            calls = self._own.calls.get(call)
            if calls is None:
                calls = self._own.calls[call] = Calls()
            calls.spread.note(seconds)
            # To ask for what cannot be is no fault of the store.
            calls.errors += error is not None and not isinstance(error, UsageError)

    def _count_enqueued(self, queue: str, task: str) -> None:
        with self._lock:
            self.asked.row(queue, task).enqueued += 1

    # -- what it tells -------------------------------------------------------------------

    def figures(self) -> Figures:
        """All numbers, as they are now; from any thread."""
        total = Figures()
        with self._lock:
            self._retire()
            total.add(self._own)
            workers = [*self._workers]
        for ledger in (*self._ledgers, *(worker.ledger for worker in workers)):
            total.add_rows(ledger.rows)
        with self._scraping:
            self._note_started(total, workers)
        for worker in workers:
            total.add_slots(worker.slots, worker.busy)
        return total

    def _retire(self) -> None:
        """Keep the numbers of workers that have stopped, and nothing else of them."""
        for worker in [worker for worker in self._workers if not worker.slots]:
            self._workers.remove(worker)
            self._own.add_rows(worker.ledger.rows)
            self._own.add_slots(0, 0)

    def _note_started(self, total: Figures, workers: Sequence[Working]) -> None:
        """Attempts are counted at their end; those that have not come to it were started too."""
        for row in total.rows.values():
            row.started = sum(row.run.counts)
        for worker in workers:
            for job in worker.running():
                total.row(worker.ledger.key(job.queue, job.spec.task)).started += 1
        for key, row in total.rows.items():
            # One that has just ended may be in neither: what was told is not taken back.
            row.started = self._started[key] = max(row.started, self._started.get(key, 0))

    def collect(self) -> Iterator[Family]:
        return families(self.figures())

    def describe(self) -> Iterable[Family]:
        return ()


def families(figures: Figures) -> Iterator[Family]:
    """The metrics that are told by workers and servers alike."""
    rows = [([*key], row) for key, row in sorted(figures.rows.items())]
    for name in COUNTS:
        yield counter(f"jobs_{name}_total", ((key, getattr(row, name)) for key, row in rows))
    yield histogram("job_run_seconds", ((key, row.run) for key, row in rows))
    yield histogram("job_wait_seconds", ((key, row.wait) for key, row in rows))
    calls = sorted(figures.calls.items())
    yield histogram("store_call_seconds", (([name], call.spread) for name, call in calls))
    yield counter("store_errors_total", (([name], call.errors) for name, call in calls))
    yield histogram("cron_lag_seconds", [([], figures.lag)])
    yield counter("cron_missed_total", [([], figures.missed)])
    yield gauge("leader", (([role], leads) for role, leads in sorted(figures.leads.items())))
    if figures.slots is not None:
        yield gauge("worker_slots", [([], figures.slots)])
        yield gauge("worker_slots_busy", [([], figures.busy)])
        yield counter("lease_renewals_late_total", [([], figures.late)])


def counter(name: str, values: Iterable[tuple[Sequence[str], float]]) -> Family:
    metric = METRICS[name]
    family = CounterMetricFamily(
        PREFIX + name.removesuffix("_total"), metric.text, labels=metric.labels
    )
    for labels, value in values:
        family.add_metric(labels, value)
    return family


def gauge(name: str, values: Iterable[tuple[Sequence[str], float]]) -> Family:
    metric = METRICS[name]
    family = GaugeMetricFamily(PREFIX + name, metric.text, labels=metric.labels)
    for labels, value in values:
        family.add_metric(labels, float(value))
    return family


def histogram(name: str, values: Iterable[tuple[Sequence[str], Spread]]) -> Family:
    metric = METRICS[name]
    family = HistogramMetricFamily(PREFIX + name, metric.text, labels=metric.labels)
    for labels, spread in values:
        so_far = list(accumulate(spread.counts))
        buckets = [(bound, float(so_far[at])) for bound, at in _SCRAPED_AT]
        family.add_metric(labels, [*buckets, ("+Inf", float(so_far[-1]))], spread.seconds)
    return family
