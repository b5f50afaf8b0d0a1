"""Every address of the HTTP API, who may use it, and what answers. Open this file first.

A row cannot be without a rule: a role, `PUBLIC`, or `ANY` key. From this table come the routing,
the OpenAPI description, and the tests that try every row with every role.
"""

from __future__ import annotations

from typing import Final

from ...core.apikey import Role
from . import (
    attempts,
    bulk,
    changes,
    crew,
    cron,
    dead,
    enqueuing,
    events,
    health,
    history,
    jobs,
    login,
    overview,
    pages,
    procedure,
    queues,
    stats,
    tasks,
    work,
    workflows,
)
from .enqueuing import Stored
from .route import ANY, LOGIN, PUBLIC, Route, route

READ, ENQUEUE, WORK, OPERATE = Role.READ, Role.ENQUEUE, Role.WORK, Role.OPERATE
V1: Final = "/api/v1"

_STORED: Final = {201: Stored, 200: Stored}
_KEY: Final = ("Idempotency-Key",)

ROUTES: Final[tuple[Route, ...]] = (
    route("POST", f"{V1}/jobs", ENQUEUE, enqueuing.enqueue_job, answers=_STORED, headers=_KEY),
    route(
        "POST",
        f"{V1}/jobs/batch",
        ENQUEUE,
        enqueuing.enqueue_jobs,
        answers={201: enqueuing.StoredBatch},
        headers=_KEY,
    ),
    route("GET", f"{V1}/jobs", READ, jobs.find_jobs),
    route("POST", f"{V1}/jobs/bulk", OPERATE, bulk.change_many),
    route("GET", f"{V1}/jobs/{{id}}", READ, jobs.get_one),
    route("DELETE", f"{V1}/jobs/{{id}}", OPERATE, changes.delete_job),
    route(
        "GET",
        f"{V1}/jobs/{{id}}/result",
        READ,
        jobs.get_result,
        answers={200: jobs.Result, 202: jobs.Result},
    ),
    route("GET", f"{V1}/jobs/{{id}}/progress", READ, jobs.get_progress),
    route("GET", f"{V1}/jobs/{{id}}/why", READ, jobs.get_why),
    route("GET", f"{V1}/jobs/{{id}}/attempts", READ, attempts.list_attempts),
    route("POST", f"{V1}/jobs/{{id}}/signal", ENQUEUE, changes.signal_one),
    route("POST", f"{V1}/jobs/{{id}}/cancel", OPERATE, changes.cancel_job),
    route("POST", f"{V1}/jobs/{{id}}/replay", OPERATE, changes.replay_job),
    route("POST", f"{V1}/jobs/{{id}}/reschedule", OPERATE, changes.reschedule_job),
    route("POST", f"{V1}/jobs/{{id}}/priority", OPERATE, changes.prioritize_job),
    route("GET", f"{V1}/queues", READ, queues.list_queues),
    route("GET", f"{V1}/queues/{{name}}", READ, queues.get_queue),
    route("POST", f"{V1}/queues/{{name}}/pause", OPERATE, queues.pause_queue),
    route("POST", f"{V1}/queues/{{name}}/resume", OPERATE, queues.resume_queue),
    route("POST", f"{V1}/queues/{{name}}/purge", OPERATE, queues.purge_queue),
    route("GET", f"{V1}/dead/groups", READ, dead.list_dead_groups),
    route("GET", f"{V1}/dead/export", READ, dead.export_dead),
    route("POST", f"{V1}/dead/replay", OPERATE, dead.replay_dead),
    route("POST", f"{V1}/dead/delete", OPERATE, dead.delete_dead),
    route("GET", f"{V1}/cron", READ, cron.list_schedules),
    route("GET", f"{V1}/cron/{{name}}", READ, cron.get_schedule),
    route("PUT", f"{V1}/cron/{{name}}", OPERATE, cron.put_schedule),
    route("PATCH", f"{V1}/cron/{{name}}", OPERATE, cron.change_schedule),
    route("DELETE", f"{V1}/cron/{{name}}", OPERATE, cron.delete_schedule),
    route("POST", f"{V1}/cron/{{name}}/pause", OPERATE, cron.pause_schedule),
    route("POST", f"{V1}/cron/{{name}}/resume", OPERATE, cron.resume_schedule),
    route(
        "POST",
        f"{V1}/cron/{{name}}/trigger",
        OPERATE,
        cron.trigger_schedule,
        answers={201: Stored},
    ),
    route("GET", f"{V1}/timetable", READ, cron.explain_timetable, tag="cron"),
    route("GET", f"{V1}/workers", READ, crew.list_workers),
    route("POST", f"{V1}/workers/{{id}}/quiet", OPERATE, crew.quiet_worker),
    route("POST", f"{V1}/workers/{{id}}/resume", OPERATE, crew.resume_worker),
    route("POST", f"{V1}/workers/{{id}}/stop", OPERATE, crew.stop_worker),
    # Whoever leaves while jobs are claimed for it gives them back, so these are attended.
    route("POST", f"{V1}/work/fetch", WORK, work.fetch_jobs, longest=5.0),
    route("POST", f"{V1}/work/extend", WORK, work.extend_leases),
    route("POST", f"{V1}/work/ack", WORK, work.ack_jobs),
    route("POST", f"{V1}/work/nack", WORK, work.nack_jobs),
    route("POST", f"{V1}/work/release", WORK, work.release_jobs),
    route("POST", f"{V1}/work/progress", WORK, work.report_progress),
    route("POST", f"{V1}/work/checkpoint", WORK, work.keep_checkpoints),
    route("POST", f"{V1}/work/register", WORK, work.register_worker),
    route("POST", f"{V1}/work/leave", WORK, work.remove_worker),
    route("GET", f"{V1}/limits", READ, crew.list_limits),
    route("GET", f"{V1}/tasks", READ, tasks.list_tasks),
    route("GET", f"{V1}/workflows", READ, workflows.list_workflows),
    route("GET", f"{V1}/workflows/{{id}}", READ, workflows.get_workflow),
    route("POST", f"{V1}/workflows/{{id}}/cancel", OPERATE, workflows.cancel_whole),
    route("POST", f"{V1}/workflows/{{id}}/retry", OPERATE, workflows.retry_whole),
    route("GET", f"{V1}/history", READ, history.search_history),
    route("GET", f"{V1}/history/{{id}}", READ, history.get_past),
    route("GET", f"{V1}/overview", READ, overview.get_overview),
    route("GET", f"{V1}/stats", READ, stats.get_stats),
    route("GET", f"{V1}/stats/queues", READ, stats.get_trends),
    route("GET", f"{V1}/events", READ, events.follow),
    route("GET", f"{V1}/me", ANY, login.get_me),
    route(
        "POST",
        f"{V1}/store/{{procedure}}",
        ANY,
        procedure.carry_out,
        longest=60.0,
        answers={200: "application/msgpack"},
    ),
    route(
        "GET",
        f"{V1}/openapi.json",
        PUBLIC,
        pages.openapi,
        answers={200: "application/json"},
        tag="description",
    ),
    route("GET", "/docs", PUBLIC, pages.reference, answers={200: "text/html"}, tag="description"),
    route(
        "POST",
        "/enqueue",
        ENQUEUE,
        enqueuing.enqueue_short,
        answers=_STORED,
        tag="jobs",
        headers=_KEY,
    ),
    route("POST", "/login", PUBLIC, login.log_in, tag=LOGIN),
    route("GET", "/livez", PUBLIC, health.livez, tag="health"),
    route("GET", "/readyz", PUBLIC, health.readyz, tag="health"),
    route("GET", "/metrics", READ, health.metrics, answers={200: "text/plain"}, tag="health"),
    # Last, for tests that go through the table: with it ends what they are let in by.
    route("POST", "/logout", PUBLIC, login.log_out, tag=LOGIN),
)
