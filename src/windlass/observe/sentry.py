"""Reports failed attempts to Sentry.

The application sets Sentry up, as it does elsewhere; here is only what makes an issue of a job: its
tags, and a fingerprint by which errors that are alike are one issue.
"""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

from ..core.likeness import error_fingerprint
from ..core.model import Failure, Job, Transition
from ..core.states import State
from ..errors import InvalidOption, MissingExtra
from .events import Observer
from .fields import JOBS

try:
    import sentry_sdk
    from sentry_sdk.integrations.logging import ignore_logger
except ImportError:
    raise MissingExtra("Sentry needs an extra: pip install 'windlass[sentry]'.") from None

When = Literal["dead", "failed"]

STATES: Final = {"dead": (State.DEAD,), "failed": (State.DEAD, State.RETRY)}


class Sentry(Observer):
    """Give one to `app.observe` in workers.

    Jobs that are dead are reported, or with `on="failed"` each attempt that failed; Sentry's own
    integration of `logging`, which reports dead jobs too, then leaves them to this. Neither
    arguments nor results go along, unless what was raised names them or Sentry collects local
    variables.
    """

    def __init__(self, on: When = "dead") -> None:
        if on not in get_args(When):
            raise InvalidOption(f"on is one of {', '.join(get_args(When))}; got {on!r}.")
        self._states = STATES[on]
        ignore_logger(JOBS)

    def ended(
        self, job: Job, move: Transition | None, seconds: float, error: BaseException | None
    ) -> None:
        if error is not None and move is not None and move.state in self._states:
            self._report(job, move, error)

    def rescued(self, job: Job, move: Transition) -> None:
        if move.state in self._states:
            self._report(job, move, None)

    def _report(self, job: Job, move: Transition, error: BaseException | None) -> None:
        failure = move.error or Failure("Unknown", "")
        with sentry_sdk.new_scope() as scope:
            scope.set_transaction_name(job.task)
            for name, value in _tags(job, move).items():
                scope.set_tag(name, value)
            scope.set_context("job", _facts(job))
            scope.fingerprint = ["windlass", error_fingerprint(job.task, failure)]
            if error is None:
                scope.capture_message(str(failure), "error")
            else:
                scope.capture_exception(error)


def _tags(job: Job, move: Transition) -> dict[str, str]:
    return {
        "windlass.task": job.task,
        "windlass.queue": job.queue,
        "windlass.job_id": job.id,
        "windlass.attempt": str(job.attempt),
        "windlass.state": move.state.value,
    }


def _facts(job: Job) -> dict[str, Any]:
    """What is worth knowing and cannot be secret."""
    return {
        "id": job.id,
        "task": job.task,
        "queue": job.queue,
        "attempt": job.attempt,
        "max_retries": job.spec.max_retries,
        "fence": job.fence,
        "workflow": job.spec.workflow or None,
        "worker": job.worker,
    }
