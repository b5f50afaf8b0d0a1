"""`windlass workers`: who works, and what they are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import click

from ..admin.moment import iso, relative
from ..admin.workers import direct
from ..core.workers import Order, WorkerInfo
from .group import Group
from .output import Column, print_json, print_table
from .refusal import Unmet
from .target import AppName, app_option, ask, existing, json_option, url_option
from .text import masked, one_line
from .values import name as worker_id

COLUMNS: Final = (
    Column("id", whole=True),
    Column("host"),
    Column("pid", number=True),
    Column("queues"),
    Column("active", number=True),
    Column("completed", number=True),
    Column("failed", number=True),
    Column("started"),
    Column("seen"),
)
FAULT: Final = Column("fault")
"""Only shown while there is one."""


@click.group(cls=Group, invoke_without_command=True)
@app_option
@url_option
@json_option
@click.pass_context
def workers(ctx: click.Context, app: AppName | None, url: str | None, as_json: bool) -> None:
    """List the workers that are alive: where they run, what they serve, how busy they are, how many
    attempts they have completed and failed, and why one cannot work.

    A worker that ends takes itself off the list; one that dies is off it after a short while.
    The commands below direct workers of the list. They follow within seconds.
    """
    command = ctx.invoked_subcommand
    if command is not None:
        if app is not None or url is not None or as_json:
            raise click.UsageError(f"Put options behind the command: windlass workers {command} …")
        return
    with existing(app, url) as found:
        known = ask(found, lambda store: store.workers())
    if as_json:
        print_json([_record(worker) for worker in known])
    elif any(worker.fault for worker in known):
        rows = [(*_row(worker), one_line(worker.fault)) for worker in known]
        print_table((*COLUMNS, FAULT), rows)
    elif known:
        print_table(COLUMNS, [_row(worker) for worker in known])
    else:
        click.echo(f"No worker is heard of in {masked(found.url)}.")


_ids: Final = click.argument("ids", metavar="ID...", nargs=-1, required=True, type=worker_id)


@workers.command()
@_ids
@app_option
@url_option
@json_option
def quiet(ids: Sequence[str], app: AppName | None, url: str | None, as_json: bool) -> None:
    """Let the workers ID claim no more jobs, and finish those that they run.

    What they have claimed and not started goes back to the front of the line. They stay alive, and
    work again when they are told to resume.
    """
    _direct("quiet", "to be quiet", ids, app, url, as_json)


@workers.command()
@_ids
@app_option
@url_option
@json_option
def resume(ids: Sequence[str], app: AppName | None, url: str | None, as_json: bool) -> None:
    """Let the workers ID claim jobs again."""
    _direct("work", "to work", ids, app, url, as_json)


@workers.command()
@_ids
@app_option
@url_option
@json_option
def stop(ids: Sequence[str], app: AppName | None, url: str | None, as_json: bool) -> None:
    """Let the workers ID stop, as SIGTERM does: running jobs may finish.

    One of several processes of a `windlass worker` is not started again before the whole is. A
    service manager may start what it manages again; tell that to stop it for good.
    """
    _direct("stop", "to stop", ids, app, url, as_json)


def _direct(
    order: Order,
    what: str,
    ids: Sequence[str],
    app: AppName | None,
    url: str | None,
    as_json: bool,
) -> None:
    with existing(app, url) as found:
        done = ask(found, lambda store: direct(store, ids, order))
    if as_json:
        print_json({"count": done.count, "ids": sorted(done.ids), "refused": done.refused})
    else:
        for sentence in done.refused.values():
            click.echo(f"windlass: {one_line(sentence)}", err=True)
        if done.count:
            noun = "worker" if done.count == 1 else "workers"
            click.echo(f"Told {done.count:,} {noun} {what}.")
    if done.refused:
        click.get_current_context().exit(Unmet.exit_code)


def _record(worker: WorkerInfo) -> dict[str, Any]:
    return {
        "id": worker.id,
        "host": worker.host,
        "pid": worker.pid,
        "queues": worker.queues,
        "concurrency": worker.concurrency,
        "threads": worker.threads,
        "active": worker.active,
        "memory": worker.memory,
        "quiet": worker.quiet,
        "order": worker.order,
        "fault": worker.fault,
        "completed": worker.completed,
        "failed": worker.failed,
        "started_at": iso(worker.started_at),
        "seen_at": iso(worker.seen_at),
    }


def _row(worker: WorkerInfo) -> Sequence[str]:
    active = f"{worker.active}/{worker.concurrency}"
    return (
        worker.id,
        worker.host,
        str(worker.pid),
        ",".join(worker.queues),
        f"{active} {_told(worker)}".rstrip(),
        f"{worker.completed:,}",
        f"{worker.failed:,}",
        relative(worker.started_at),
        relative(worker.seen_at),
    )


def _told(worker: WorkerInfo) -> str:
    """Whether it claims jobs, and what it was told and has not followed yet."""
    if worker.order == "stop":
        return "told to stop"
    if worker.claims == (not worker.quiet):
        return "quiet" if worker.quiet else ""
    return "told to work" if worker.claims else "told to be quiet"
