"""What goes around every enqueue and every run of an app.

A middleware sees a job twice: where it is enqueued, and where it is run, most often in
another process. The headers of the job carry texts from the one to the other. What comes
before a step goes in the order in which the middleware was added, what comes after it in
reverse: the first one added is the outermost.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, Unpack

from msgspec.structs import replace

from .core.context import Context
from .core.keyed import keyed, refuse_functions
from .core.model import NewJob, Receipt
from .core.notes import MOST_BYTES, OWN_BYTES, check_notes, checked_texts
from .core.options import JobOptions, Options
from .core.unique import RAISE
from .errors import InvalidOption, Veto
from .observe.events import Events

__all__ = ["Attempt", "CallNext", "Middleware", "NewJob", "Receipt", "Veto", "changed"]

log = logging.getLogger("windlass")

CallNext: TypeAlias = Callable[[], Awaitable[Any]]
"""The rest of the way to the handler; await it for what the handler returned."""


class Attempt:
    """One attempt on its way to the handler.

    `args` and `kwargs` are the job's own, as the handler will get them: they can be changed
    in place. Neither the context nor any resource is among them.
    """

    __slots__ = ("args", "context", "kwargs")

    def __init__(self, context: Context, args: list[Any], kwargs: dict[str, Any]) -> None:
        self.context = context
        self.args = args
        self.kwargs = kwargs

    @property
    def task(self) -> str:
        return self.context.job.task

    @property
    def headers(self) -> Mapping[str, str]:
        return self.context.headers


class Middleware:
    """Write a class of this kind with any of the three methods, and add one of it to an app.

    `enqueue` and `enqueued` are plain functions even for `aenqueue`, so they must not block.
    """

    def enqueue(self, job: NewJob) -> NewJob:
        """The job to store, the same or one made by `changed`; raise `Veto` to refuse it.

        What it raises reaches the caller, and nothing is stored.
        """
        return job

    def enqueued(self, job: NewJob, receipt: Receipt) -> None:
        """The store has the job now; what this raises is logged and changes nothing."""

    async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
        """Run the handler by awaiting `call_next()`; what is returned is the job's result.

        What it raises counts as if the handler had raised it. Without `call_next` the
        handler is left out, and the job completes all the same.
        """
        return await call_next()


Run: TypeAlias = Callable[[Attempt, CallNext], Awaitable[Any]]


class Stack:
    """The middleware of one app, taken apart once: a method that is not written costs nothing."""

    def __init__(self, events: Events | None = None) -> None:
        self.events = events or Events()
        self.rebound: Callable[[NewJob, NewJob], NewJob] | None = None
        """how a job that a middleware made of another keeps its arguments readable"""
        self.runs: tuple[Run, ...] = ()
        """from the innermost to the outermost"""
        self._before: tuple[Callable[[NewJob], NewJob], ...] = ()
        self._after: tuple[Callable[[NewJob, Receipt], None], ...] = ()

    def add(self, middleware: Middleware) -> None:
        """Put one more inside of those that are there."""
        if not isinstance(middleware, Middleware):
            raise InvalidOption(
                f"A middleware is an object of a class that extends Middleware; got {middleware!r}."
            )
        written = {name for name in ("enqueue", "enqueued", "run") if _is_own(middleware, name)}
        for name in sorted(written):
            _refuse_wrong_kind(middleware, name)
        if "enqueue" in written:
            self._before = (*self._before, middleware.enqueue)
        if "enqueued" in written:
            self._after = (middleware.enqueued, *self._after)
        if "run" in written:
            self.runs = (middleware.run, *self.runs)

    def before(self, jobs: Sequence[NewJob]) -> Sequence[NewJob]:
        """The jobs as they are to be stored. One that is refused refuses all."""
        if self._before:
            jobs = [self._changed(job) for job in jobs]
        if self.events.enqueuing:
            jobs = [self.events.with_headers(job) for job in jobs]
        return jobs

    def after(self, jobs: Sequence[NewJob], receipts: Sequence[Receipt]) -> None:
        """Tell what the store has taken."""
        if self._after:
            for job, receipt in zip(jobs, receipts, strict=True):
                self._tell(job, receipt)
        self.told(jobs, receipts)

    def told(self, jobs: Sequence[NewJob], receipts: Sequence[Receipt]) -> None:
        """Tell observers alone, for jobs that had their middleware elsewhere."""
        if self.events.enqueued:
            for job, receipt in zip(jobs, receipts, strict=False):
                self.events.enqueued(job, receipt)

    def _changed(self, asked: NewJob) -> NewJob:
        job = asked
        for step in self._before:
            job = step(job)
            if not isinstance(job, NewJob):
                raise InvalidOption(
                    f"{step.__qualname__} returned {job!r}; it must return the job to store, "
                    "or raise Veto."
                )
        check_notes(job.spec, MOST_BYTES + OWN_BYTES)
        # An id that a middleware chose may be another job's too.
        fresh = asked.fresh and job.id == asked.id
        job = job if job.fresh == fresh else replace(job, fresh=fresh)
        if self.rebound is None or job is asked:
            return job
        return self.rebound(asked, job)

    def _tell(self, job: NewJob, receipt: Receipt) -> None:
        for step in self._after:
            try:
                step(job, receipt)
            except Exception:
                # The job is stored: an error here would tell the caller that it is not.
                log.exception("job %s is stored, but %s failed", receipt.id, step.__qualname__)


def around(
    runs: Sequence[Run],
    attempt: Attempt,
    handler: Callable[[list[Any], dict[str, Any]], Awaitable[Any]],
) -> Awaitable[Any]:
    """The handler inside of all that is to go around it."""

    def innermost() -> Awaitable[Any]:
        return handler(attempt.args, attempt.kwargs)

    call_next: CallNext = innermost
    for run in runs:
        call_next = partial(run, attempt, call_next)
    return call_next()


class Changes(JobOptions, total=False):
    """What `changed` takes: the options of a job, and headers, which are added."""

    headers: Mapping[str, str]


def changed(job: NewJob, **changes: Unpack[Changes]) -> NewJob:
    """The same job with other options, checked as those of `using`, or with more headers."""
    rest: dict[str, Any] = dict(changes)
    if rest.get("on_conflict") == RAISE:
        raise InvalidOption("on_conflict='raise' is for the caller to say, not for a middleware.")
    headers = checked_texts(rest.pop("headers", {}), "headers")
    spec = job.spec
    now = Options(
        queue=job.queue,
        priority=job.priority,
        max_retries=spec.max_retries,
        timeout=spec.timeout,
        keep=spec.keep,
        id=job.id,
        delay=job.delay,
        at=job.due,
        labels=spec.labels,
        expires_in=spec.expires_in,
        expires_at=spec.expires_at,
        depends_on=spec.parents,
        orphaned="run" if spec.runs_anyway else "cancel",
        unique=job.unique,
        unique_for=spec.unique_for,
        on_conflict=job.conflict,
        group=spec.group or None,
        weight=spec.weight,
    ).merged(rest)
    refuse_functions(now, "changed(…) does not see the arguments")
    made = now.new_job(spec.task, spec.payload, spec.content_type)
    if now.keyed:
        made = keyed(made, now)
    kept = {**(spec.headers or {}), **headers} or None
    own = {"inputs": spec.inputs, "gathers": spec.gathers, "workflow": spec.workflow}
    lane = made.spec.lane if rest.keys() & {"limit", "sequence"} else spec.lane
    job = replace(made, spec=replace(made.spec, headers=kept, lane=lane, **own))
    if headers or "labels" in rest:
        check_notes(job.spec)
    return job


def _is_own(middleware: Middleware, name: str) -> bool:
    return getattr(type(middleware), name) is not getattr(Middleware, name)


def _refuse_wrong_kind(middleware: Middleware, name: str) -> None:
    is_async = inspect.iscoroutinefunction(getattr(middleware, name))
    if is_async != (name == "run"):
        kind = "an async def" if name == "run" else "a def, not an async def"
        raise InvalidOption(f"{type(middleware).__name__}.{name} must be {kind}.")
