"""What other task queues call things, and what they are called here: for error messages alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("countdown", "defer_by", "_defer_by", "schedule_in"), "delay"),
    **dict.fromkeys(("eta", "defer_until", "_defer_until", "schedule_at", "run_at"), "at"),
    **dict.fromkeys(("expires", "max_age", "ttl"), "expires_in"),
    **dict.fromkeys(("time_limit", "soft_time_limit", "job_timeout"), "timeout"),
    **dict.fromkeys(("result_ttl", "result_expires", "keep_result", "ignore_result"), "keep"),
    **dict.fromkeys(("task_id", "job_id", "_job_id", "message_id"), "id"),
    **dict.fromkeys(("retries", "retry", "max_attempts", "max_tries", "attempts"), "max_retries"),
    **dict.fromkeys(("autoretry_for", "throws"), "retry_on"),
    **dict.fromkeys(("retry_backoff", "min_backoff", "max_backoff", "retry_delay"), "backoff"),
    **dict.fromkeys(("rate_limit", "concurrency", "concurrency_limit"), "limit"),
    **dict.fromkeys(("queueing_lock", "unique_key", "dedup"), "unique"),
    **dict.fromkeys(("queue_name", "_queue_name", "routing_key"), "queue"),
    **dict.fromkeys(("meta", "tags"), "labels"),
    "lock": "sequence",
    "bind": "context",
    "actor_name": "name",
}
"""Their options, each with the one of ours that comes closest."""

_ENQUEUE: Final = "use {task}.enqueue(…), or await {task}.aenqueue(…) in async code"
_USING: Final = "use {task}.using(delay=60).enqueue(…), with the options in using(…)"
_MANY: Final = "use app.enqueue_many([{task}.call(…), …])"

METHODS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("delay", "send", "kiq", "defer", "push", "perform_async"), _ENQUEUE),
    **dict.fromkeys(("submit", "publish", "add_job"), _ENQUEUE),
    "delay_on_commit": "use {task}.using(connection=…).enqueue(…)",
    "retry": "use raise Retry(after=…) in the handler of {task}",
    "defer_async": "use await {task}.aenqueue(…)",
    **dict.fromkeys(("apply_async", "send_with_options", "enqueue_in", "enqueue_at"), _USING),
    **dict.fromkeys(("schedule", "configure", "set", "kicker"), _USING),
    **dict.fromkeys(("starmap", "chunks", "map", "map_async"), _MANY),
    **dict.fromkeys(("s", "si", "signature", "subtask", "message"), "use {task}.step(…)"),
    **dict.fromkeys(("apply", "run", "fn", "func"), "call it: {task}(…)"),
}
"""What their tasks can do, each with how it is done here."""

_GET: Final = "use job.get().state, or (await job.aget()).state in async code"
_RESULT: Final = "use job.result(timeout=…), or await job.aresult(timeout=…) in async code"

HANDLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("state", "status", "ready", "is_finished", "successful", "failed"), _GET),
    **dict.fromkeys(("get_status", "is_failed", "is_queued", "refresh"), _GET),
    **dict.fromkeys(("wait", "join", "get_result", "return_value", "wait_result"), _RESULT),
    **dict.fromkeys(("revoke", "abort", "stop", "forget"), "use job.cancel()"),
    **dict.fromkeys(("requeue", "retry", "replay"), "use app.dead.replay(job)"),
    **dict.fromkeys(("delete", "remove"), "use app.jobs.delete(job)"),
    **dict.fromkeys(("info", "meta", "args", "kwargs"), "use job.get(), which gives all there is"),
    **dict.fromkeys(("task_id", "job_id", "message_id"), "use job.id"),
    "traceback": "use job.attempts()",
}
"""What is asked of the handle of a job elsewhere."""

_TASK: Final = "decorate the function with @app.task, then call its .enqueue(…)"
_WORKER: Final = "start one by windlass worker MODULE:APP; one within a program is app.worker()"
_CRON: Final = "decorate the function with @app.cron(…), or see app.schedules"

APPS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("enqueue", "aenqueue", "send_task", "enqueue_job", "send", "defer"), _TASK),
    **dict.fromkeys(("actor", "shared_task", "register_task", "register"), _TASK),
    **dict.fromkeys(("worker_main", "run_worker", "run", "Worker", "start", "listen"), _WORKER),
    **dict.fromkeys(("periodic_task", "schedule", "crontab", "periodic", "repeat"), _CRON),
    **dict.fromkeys(("add_periodic_task", "on_after_configure"), _CRON),
    **dict.fromkeys(("get_job", "fetch_job", "AsyncResult"), "use app.job(id)"),
    **dict.fromkeys(("control", "inspect"), "use app.workers, app.queues and app.jobs"),
    **dict.fromkeys(
        ("conf", "config", "config_from_object"), "use options, or WINDLASS_… variables"
    ),
    **dict.fromkeys(("purge", "empty"), "use app.queues.purge(…)"),
    **dict.fromkeys(("autodiscover_tasks", "import_tasks"), "import the modules with its tasks"),
    "cancel": "use app.jobs.cancel(…)",
}
"""What is asked of the app itself elsewhere."""


def unknown(owner: object, name: str, hint: str | None) -> AttributeError:
    """The error for what an object does not have, with what to use."""
    text = f"{type(owner).__name__!r} object has no attribute {name!r}"
    if hint is not None:
        return AttributeError(f"{text}: {hint}")
    return AttributeError(text, name=name, obj=owner)
