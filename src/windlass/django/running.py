"""Runs jobs of a test in the test's own thread: its transaction is seen by nobody else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from asgiref.sync import async_to_sync, sync_to_async
from msgspec.structs import replace

from ..core.clock import system_clock
from ..core.codec import decode_call, encode_result
from ..core.context import Context, current
from ..core.model import Job, JobQuery, Page, Transition
from ..core.outcome import Succeeded, decide
from ..core.result import result_of
from ..core.states import FINISHED, State
from ..definition import Definition
from ..errors import UsageError
from ..middleware import Attempt, around
from ..resources import filled
from ..stores.contract import Store
from ..worker.attempt import failed
from .application import DjangoApp
from .client import is_testing

WORKER: Final = "tests"
MOST: Final = 1000
"""So many jobs one call runs: a job may enqueue itself."""


def run_enqueued(app: DjangoApp, ids: Sequence[str] = ()) -> Sequence[Job]:
    """Run what is pending, one attempt of each job, and give the jobs as they are then."""
    if not is_testing():
        raise UsageError("Jobs are run in this thread in tests only; start a worker.")
    ran: list[Job] = []
    while len(ran) < MOST:
        jobs = _pending(app, ids)
        if not jobs:
            return ran
        ran += [_run(app, job) for job in jobs]
    raise UsageError(f"{MOST:,} jobs were run and there are more: do they enqueue themselves?")


def pages(app: DjangoApp, states: tuple[State, ...]) -> Sequence[Job]:
    """All jobs in these states."""
    found: list[Job] = []
    cursor = None
    while True:
        page: Page = _ask(app, _finding(JobQuery(states=states, cursor=cursor)))
        found += page.jobs
        cursor = page.cursor
        if cursor is None:
            return found


def _finding(query: JobQuery) -> Callable[[Store], Any]:
    return lambda store: store.find(query)


def _pending(app: DjangoApp, ids: Sequence[str]) -> Sequence[Job]:
    if not ids:
        return sorted(pages(app, (State.PENDING,)), key=lambda job: (-job.priority, job.id))
    there = _ask(app, lambda store: store.get(ids))
    return [job for job in there.values() if job.state is State.PENDING]


def _run(app: DjangoApp, job: Job) -> Job:
    """One attempt. The job is taken out and put back: a store hands it to workers alone."""
    definition = app.registry[job.task]
    if definition.batch:
        raise UsageError(f"{job.task} takes batches: run it by a worker, on memory://.")
    now = system_clock()
    active = replace(
        job,
        state=State.ACTIVE,
        attempt=job.attempt + 1,
        fence=job.fence + 1,
        started_at=now,
        worker=WORKER,
    )
    _ask(app, lambda store: store.delete([job.id], moved=True))
    done = _after(active, _move(app, definition, active))
    _ask(app, lambda store: store.restore([done]))
    return done


def _move(app: DjangoApp, definition: Definition, job: Job) -> Transition:
    codec = app.codecs.get(job.spec.content_type)
    try:
        args, kwargs = decode_call(codec, job.spec.payload, job.id, job.task)
        args[:0] = _inputs(app, job)
        definition.arguments.check(args, kwargs)
        definition.arguments.convert(args, kwargs, binary=codec.binary)
        value = async_to_sync(_handle)(app, definition, job, args, kwargs)
        return decide(job, Succeeded(encode_result(codec, value, id=job.id, task=job.task)))
    except (Exception, SystemExit) as error:
        return failed(job, error, definition.policy)


async def _handle(
    app: DjangoApp, definition: Definition, job: Job, args: list[Any], kwargs: dict[str, Any]
) -> Any:
    context = Context(job)
    current.set(context)
    call = partial(_call, app, definition, context)
    return await around(app.registry.middleware.runs, Attempt(context, args, kwargs), call)


async def _call(
    app: DjangoApp,
    definition: Definition,
    context: Context,
    args: list[Any],
    kwargs: dict[str, Any],
) -> Any:
    needs = definition.arguments.left_out
    if needs:
        kwargs = filled(needs, app.registry.overrides, kwargs, definition.name)
    if definition.arguments.takes_context:
        args = [context, *args]
    if definition.is_async:
        return await definition.func(*args, **kwargs)
    return await sync_to_async(definition.func, thread_sensitive=True)(*args, **kwargs)


def _inputs(app: DjangoApp, job: Job) -> list[Any]:
    spec = job.spec
    if not spec.inputs:
        return []
    ids = spec.parents[: spec.inputs]
    parents = _ask(app, lambda store: store.get(ids))
    results = [result_of(app.codecs, parents[id]) for id in ids]
    return [results] if spec.gathers else results


def _after(job: Job, move: Transition) -> Job:
    """The job as a store makes it of this move."""
    now = system_clock()
    waits = move.state in (State.RETRY, State.SCHEDULED)
    return replace(
        job,
        state=move.state,
        due=(now + move.delay if move.due is None else move.due) if waits else job.due,
        attempt=job.attempt - move.refund,
        result=move.result,
        error=move.error or job.error,
        finished_at=now if move.state in FINISHED else None,
    )


def _ask(app: DjangoApp, act: Callable[[Store], Any]) -> Any:
    return app.client.block(act, "run_enqueued()", "sync_to_async(run_enqueued)()")
