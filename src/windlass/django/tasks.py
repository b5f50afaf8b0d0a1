"""A backend for Django's own tasks: `{"BACKEND": "windlass.django.tasks.WindlassBackend"}`.

For `django.tasks`, which Django has since 6.0, or else for the package `django-tasks`. Windlass's
worker runs them; tasks are found in the `tasks.py` of installed apps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from inspect import iscoroutinefunction
from time import time_ns
from traceback import format_exception
from typing import Any, Final

from django.utils import timezone

from ..core.codec import decode_call
from ..core.context import Context
from ..core.model import Failure, Job
from ..core.result import result_of
from ..core.states import State
from ..errors import InvalidOption
from ..middleware import changed
from ..task import Call
from ..task import Task as WindlassTask
from .application import project_app
from .backports import (
    BaseTaskBackend,
    InvalidTask,
    Task,
    TaskContext,
    TaskError,
    TaskResult,
    TaskResultDoesNotExist,
    TaskResultStatus,
    normalize_json,
    task_enqueued,
    task_finished,
    task_started,
)
from .client import is_testing
from .conf import conf

STATUS: Final = {
    State.ACTIVE: TaskResultStatus.RUNNING,
    State.COMPLETED: TaskResultStatus.SUCCESSFUL,
    State.DEAD: TaskResultStatus.FAILED,
    State.CANCELLED: TaskResultStatus.FAILED,
}
"""What Django calls a state; all others are READY."""

BACKEND: Final = "django-backend"
PRIORITY: Final = "django-priority"
AFTER: Final = "django-run-after"
SINCE: Final = "django-enqueued-at"


class WindlassBackend(BaseTaskBackend):
    """Django's tasks as jobs of Windlass.

    A job waits for the commit of the transaction that it is enqueued in. OPTIONS are what `using`
    takes, such as `max_retries`, for all tasks of the backend; without it a task is run once.
    """

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def validate_task(self, task: Task) -> None:
        """As of any backend; and let workers of this process know the task."""
        super().validate_task(task)
        _declared(task)

    def enqueue(self, task: Task, args: Sequence[Any], kwargs: Mapping[str, Any]) -> TaskResult:
        """Store a job, over the connection that Django has in this thread if it is the store's."""
        self.validate_task(task)
        args, kwargs = normalize_json([*args]), normalize_json({**kwargs})
        call = self._ready(task).call(*args, **kwargs)
        now = _moment(time_ns() // 1_000_000)
        headers = {BACKEND: self.alias, PRIORITY: str(task.priority), SINCE: now.isoformat()}
        if task.run_after is not None:
            headers[AFTER] = task.run_after.isoformat()
        job = changed(call.job, headers=headers)
        result = TaskResult(
            task=task,
            id=job.id,
            status=TaskResultStatus.READY,
            enqueued_at=now,
            started_at=None,
            finished_at=None,
            last_attempted_at=None,
            args=args,
            kwargs=kwargs,
            backend=self.alias,
            errors=[],
            worker_ids=[],
        )
        app = project_app()
        with app.client.told_first():
            [handle] = app.enqueue_many([Call(job, call.convert)])
            object.__setattr__(result, "id", handle.id)
            task_enqueued.send(type(self), task_result=result)
        if is_testing() and conf().testing == "immediate":
            result.refresh()
        return result

    def get_result(self, result_id: str) -> TaskResult:
        """The result of a job of any of Django's tasks, as long as the job is kept."""
        try:
            job = project_app().client.seen(project_app().job(result_id).id)
        except InvalidOption:
            job = None
        if job is None or job.task not in _TASKS:
            raise TaskResultDoesNotExist(result_id)
        return _result(job, self.alias)

    def _ready(self, task: Task) -> WindlassTask[..., Any, Any]:
        due = task.run_after
        if due is not None and timezone.is_naive(due):
            due = timezone.make_aware(due)
        asked = {"queue": task.queue_name, "priority": (int(task.priority) + 100) // 2}
        moment = {} if due is None else {"at": due}
        try:
            return _declared(task).using(**{**self.options, **asked, **moment})
        except InvalidOption as error:
            raise InvalidTask(str(error)) from error


_TASKS: Final[dict[str, Task]] = {}
"""Django's tasks that have been made here, by their paths."""


def _declared(task: Task) -> WindlassTask[..., Any, Any]:
    """The task of Windlass that runs one of Django's: made once for each function."""
    app, name = project_app(), task.module_path
    known = app.tasks.get(name)
    if known is not None and name in _TASKS:
        return known
    _TASKS[name] = task
    run = _running_async if iscoroutinefunction(task.func) else _running
    return app.task(name=name, context=True, max_retries=0, validate=False)(run(name))


def _running(name: str) -> Callable[..., Any]:
    def run(context: Context, /, *args: Any, **kwargs: Any) -> Any:
        attempt = _Attempt(context.job)
        try:
            value = _TASKS[name].func(*attempt.given(args), **kwargs)
            return attempt.succeeded(value)
        except (Exception, SystemExit) as error:
            attempt.failed(error)
            raise

    return run


def _running_async(name: str) -> Callable[..., Any]:
    async def run(context: Context, /, *args: Any, **kwargs: Any) -> Any:
        attempt = _Attempt(context.job)
        try:
            value = await _TASKS[name].func(*attempt.given(args), **kwargs)
            return attempt.succeeded(value)
        except (Exception, SystemExit) as error:
            attempt.failed(error)
            raise

    return run


class _Attempt:
    """One attempt, of which Django's signals tell."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._result = _result(job)
        self._backend = type(self._result.task.get_backend())
        task_started.send(self._backend, task_result=self._result)

    def given(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of the function."""
        if self._result.task.takes_context:
            return TaskContext(task_result=self._result), *args
        return args

    def succeeded(self, value: Any) -> Any:
        """The value as it is kept."""
        kept = normalize_json(value)
        object.__setattr__(self._result, "_return_value", kept)
        self._finished(TaskResultStatus.SUCCESSFUL)
        return kept

    def failed(self, error: BaseException) -> None:
        """Within the `except`, so that whoever is told can ask for the exception."""
        if self._job.attempt <= self._job.spec.max_retries:
            return  # there is another attempt
        kind = type(error)
        text = "".join(format_exception(error))
        path = f"{kind.__module__}.{kind.__qualname__}"
        self._result.errors.append(TaskError(exception_class_path=path, traceback=text))
        self._finished(TaskResultStatus.FAILED)

    def _finished(self, status: Any) -> None:
        object.__setattr__(self._result, "finished_at", timezone.now())
        object.__setattr__(self._result, "status", status)
        task_finished.send(self._backend, task_result=self._result)


def _result(job: Job, alias: str | None = None) -> TaskResult:
    """What Django is to know of a job."""
    app, headers = project_app(), job.spec.headers or {}
    codec = app.codecs.get(job.spec.content_type)
    args, kwargs = decode_call(codec, job.spec.payload, job.id, job.task)
    backend = headers.get(BACKEND, alias or "default")
    after, since = headers.get(AFTER), headers.get(SINCE)
    task = _TASKS[job.task].using(
        backend=backend, queue_name=job.queue, priority=int(headers.get(PRIORITY, "0"))
    )
    if after is not None:
        task = task.using(run_after=datetime.fromisoformat(after))
    result = TaskResult(
        task=task,
        id=job.id,
        status=STATUS.get(job.state, TaskResultStatus.READY),
        enqueued_at=datetime.fromisoformat(since) if since else _moment(job.created_at),
        started_at=_perhaps(job.started_at),
        finished_at=_perhaps(job.finished_at),
        last_attempted_at=_perhaps(job.started_at),
        args=args,
        kwargs=kwargs,
        backend=backend,
        errors=[] if job.error is None else [_error(job.error)],
        worker_ids=[job.worker or ""] * job.attempt,
    )
    if job.state is State.COMPLETED:
        object.__setattr__(result, "_return_value", result_of(app.codecs, job))
    return result


def _perhaps(ms: int | None) -> datetime | None:
    return None if ms is None else _moment(ms)


def _moment(ms: int) -> datetime:
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment if timezone.now().tzinfo else timezone.make_naive(moment)


def _error(failure: Failure) -> TaskError:
    """The error with the path of its class: a traceback names it, but for builtins."""
    named = re.findall(
        rf"^((?:\w+\.)*{re.escape(failure.kind)})(?::|$)", failure.traceback, re.MULTILINE
    )
    path = named[-1] if named else "Exception"
    return TaskError(
        exception_class_path=path if "." in path else f"builtins.{path}",
        traceback=failure.traceback,
    )
