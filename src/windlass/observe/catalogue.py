"""Every metric that workers and servers tell: the page of the reference is this table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

PREFIX: Final = "windlass_"
OF_A_TASK: Final = ("queue", "task")

Kind = Literal["counter", "gauge", "histogram"]
Teller = Literal["worker", "server", "both"]


class Metric(NamedTuple):
    """One metric. Its name is without the prefix; a counter has `_total` at its end."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    told_by: Teller
    text: str


_BY_TASK: Final[Mapping[str, str]] = {
    "enqueued": "Jobs that this process has enqueued; duplicates are left out.",
    "started": "Attempts that were started.",
    "completed": "Jobs that were completed.",
    "failed": "Attempts that failed, whatever followed.",
    "retried": "Attempts that failed and are followed by another one.",
    "dead": "Jobs that are dead after their last attempt.",
    "cancelled": "Jobs that this process cancelled: by a call, or since they had expired.",
    "rescued": "Jobs whose worker was gone, taken over by this process.",
    "fence_refused": "Attempts whose end was not taken by the store: the lease was lost.",
}

_TABLE: Final = (
    *(
        Metric(f"jobs_{name}_total", "counter", OF_A_TASK, "both", text)
        for name, text in _BY_TASK.items()
    ),
    Metric("job_run_seconds", "histogram", OF_A_TASK, "both", "How long attempts took."),
    Metric(
        "job_wait_seconds",
        "histogram",
        OF_A_TASK,
        "both",
        "How long jobs waited, from when they were due until a worker claimed them.",
    ),
    Metric("worker_slots", "gauge", (), "worker", "Jobs that can run at the same time."),
    Metric("worker_slots_busy", "gauge", (), "worker", "Slots that are taken now."),
    Metric(
        "lease_renewals_late_total",
        "counter",
        (),
        "worker",
        "Renewals of leases that came when more than half of the lease was over.",
    ),
    Metric("store_call_seconds", "histogram", ("call",), "both", "How long the store took."),
    Metric("store_errors_total", "counter", ("call",), "both", "Calls that the store failed."),
    Metric(
        "cron_lag_seconds", "histogram", (), "both", "How late the jobs of schedules were enqueued."
    ),
    Metric("cron_missed_total", "counter", (), "both", "Ticks of schedules that will not run."),
    Metric("leader", "gauge", ("role",), "both", "Whether this process leads; upkeep needs one."),
    Metric("jobs", "gauge", ("queue", "state"), "server", "Jobs by queue and state."),
    Metric(
        "queue_age_seconds",
        "gauge",
        ("queue",),
        "server",
        "How long the job that waits longest has been waiting.",
    ),
    Metric("queue_paused", "gauge", ("queue",), "server", "Whether the queue is paused."),
    Metric("queue_workers", "gauge", ("queue",), "server", "Workers that serve the queue."),
    Metric(
        "limit_waiting",
        "gauge",
        ("queue",),
        "server",
        "Jobs that wait for a limit; of many limits, for the first 100.",
    ),
    Metric("workers", "gauge", (), "server", "Workers that were heard of."),
    Metric("worker_active", "gauge", ("worker",), "server", "Jobs that a worker runs now."),
    Metric(
        "findings",
        "gauge",
        ("kind",),
        "server",
        "What the last audit of the store found; lease, dependent and counter are faults.",
    ),
    Metric("http_requests_total", "counter", ("method", "route", "status"), "server", "Requests."),
    Metric(
        "http_request_seconds",
        "histogram",
        ("method", "route"),
        "server",
        "How long requests took.",
    ),
)

METRICS: Final[Mapping[str, Metric]] = {metric.name: metric for metric in _TABLE}
