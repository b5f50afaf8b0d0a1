"""`windlass job`: all that is known of one job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
import msgspec

from ..admin.attempts import attempt_log, attempts_of
from ..admin.facts import SHOWN_PARENTS
from ..admin.moment import iso, relative
from ..admin.record import FullRecord, full_record
from ..client import get_job
from ..core.model import NEVER, Job
from ..core.signal import came
from ..core.states import State
from .attempts import attempt_lines
from .output import print_json
from .target import AppName, app_option, ask, existing, json_option, url_option
from .text import shown
from .values import job_id


@click.command()
@click.argument("id", type=job_id)
@app_option
@url_option
@json_option
@click.option("--logs", is_flag=True, help="show each attempt, with its error and what it logged")
def job(id: str, app: AppName | None, url: str | None, as_json: bool, logs: bool) -> None:
    """Show the job ID: its state, times, arguments, result and error.

    With --logs also what each attempt came to and what its handler logged, for as long as workers
    were told to keep it (attempts_keep).

    Arguments in msgpack or JSON can be read by everyone; those of a codec of your own only
    with the app that has it (-A).
    """
    with existing(app, url) as found:
        stored = ask(found, lambda store: get_job(store, id))
        fields = full_record(stored, found.codecs)
        attempts = ask(found, lambda store: attempts_of(store, id)) if logs else ()
    if as_json:
        told = {"attempts": [attempt_log(each) for each in attempts]}
        print_json({**msgspec.structs.asdict(fields), **told} if logs else fields)
    else:
        text = [*lines(stored, fields), *(attempt_lines(attempts) if logs else _trace(stored))]
        click.echo(shown("\n".join(text)))


def lines(job: Job, fields: FullRecord) -> Iterator[str]:
    """A job for people; `fields` is its full record."""
    for name, text in (*_facts(job), *_times(job), *_contents(job, fields)):
        yield f"{name:<10} {text}".rstrip()


def _trace(job: Job) -> Iterator[str]:
    if job.error is not None and job.error.traceback:
        yield f"\n{job.error.traceback.rstrip()}"


def _facts(job: Job) -> Iterator[tuple[str, str]]:
    yield "id", job.id
    yield "task", job.task
    yield "state", job.state
    yield "queue", job.queue
    yield "priority", str(job.priority)
    yield "attempt", f"{job.attempt} of at most {job.spec.max_retries + 1}"
    if job.lost:
        yield "lost", f"{job.lost} worker{'s' * (job.lost > 1)} in a row while they ran it"
    if job.spec.timeout is not None:
        yield "timeout", f"{job.spec.timeout / 1000:g} s"
    if job.unique is not None:
        yield "unique", job.unique
    if job.worker is not None:
        yield "worker", job.worker
    if job.progress is not None:
        yield "progress", f"{job.progress.percent:g} % {job.progress.message}"
    if job.spec.lane is not None:
        kind, _, name = job.spec.lane.name.partition(":")
        yield kind, name
    if job.spec.group:
        yield "group", f"{job.spec.group} (weight {job.spec.weight})"
    if job.spec.workflow:
        yield "workflow", job.spec.workflow
    if job.spec.parents:
        yield "depends on", _some(job.spec.parents)
    if job.waits_for:
        yield "waits for", _some(job.waits_for)
    if job.awaits is not None and job.state is State.SCHEDULED:
        until = f"until {iso(job.due)}" if job.due < NEVER else "for as long as it takes"
        yield "parked", f"for the signal {job.awaits!r} {until}"
    if signals := came(job):
        yield "signals", ", ".join(signals)
    if job.spec.labels:
        yield "labels", ", ".join(f"{key}={value}" for key, value in job.spec.labels.items())


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - SHOWN_PARENTS:,} more" if len(ids) > SHOWN_PARENTS else ""
    return ", ".join(ids[:SHOWN_PARENTS]) + more


def _times(job: Job) -> Iterator[tuple[str, str]]:
    moments = {
        "created": job.created_at,
        "due": job.due,
        "started": job.started_at,
        "finished": job.finished_at,
    }
    for name, moment in moments.items():
        if moment is not None and moment < NEVER:
            yield name, f"{iso(moment)} ({relative(moment)})"


def _contents(job: Job, fields: FullRecord) -> Iterator[tuple[str, str]]:
    """What went in and what came out."""
    if fields.args is not None and fields.kwargs is not None:
        parts = [_text(value) for value in fields.args]
        parts += [f"{name}={_text(value)}" for name, value in fields.kwargs.items()]
        yield "call", f"{fields.task}({', '.join(parts)})"
    if fields.state == "completed":
        yield "result", _text(fields.result)
    if fields.unreadable is not None:
        yield "unreadable", fields.unreadable
    if job.error is not None:
        yield "error", str(job.error)


def _text(json: Any) -> str:
    return bytes(json).decode()
