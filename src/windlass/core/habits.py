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
    "defer_async": "use await {task}.aenqueue(…)",
    **dict.fromkeys(("apply_async", "send_with_options", "enqueue_in", "enqueue_at"), _USING),
    **dict.fromkeys(("schedule", "configure", "set", "kicker"), _USING),
    **dict.fromkeys(("starmap", "chunks", "map", "map_async"), _MANY),
    **dict.fromkeys(("s", "si", "signature", "subtask", "message"), "use {task}.step(…)"),
    **dict.fromkeys(("apply", "run", "fn", "func"), "call it: {task}(…)"),
}
"""What their tasks can do, each with how it is done here."""
