"""`windlass workers`: who works."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import click

from ..admin.moment import iso, relative
from ..core.workers import WorkerInfo
from .output import Column, print_json, print_table
from .target import AppName, app_option, ask, existing, json_option, url_option
from .text import masked

COLUMNS: Final = (
    Column("id", whole=True),
    Column("host"),
    Column("pid", number=True),
    Column("queues"),
    Column("active", number=True),
    Column("started"),
    Column("seen"),
)


@click.command()
@app_option
@url_option
@json_option
def workers(app: AppName | None, url: str | None, as_json: bool) -> None:
    """List the workers that are alive: where they run, what they serve, how busy they are.

    A worker that ends takes itself off the list; one that dies is off it after a short while.
    """
    with existing(app, url) as found:
        known = ask(found, lambda store: store.workers())
    if as_json:
        print_json([_record(worker) for worker in known])
    elif known:
        print_table(COLUMNS, [_row(worker) for worker in known])
    else:
        click.echo(f"No worker is heard of in {masked(found.url)}.")


def _record(worker: WorkerInfo) -> dict[str, Any]:
    return {
        "id": worker.id,
        "host": worker.host,
        "pid": worker.pid,
        "queues": worker.queues,
        "concurrency": worker.concurrency,
        "active": worker.active,
        "started_at": iso(worker.started_at),
        "seen_at": iso(worker.seen_at),
    }


def _row(worker: WorkerInfo) -> Sequence[str]:
    return (
        worker.id,
        worker.host,
        str(worker.pid),
        ",".join(worker.queues),
        f"{worker.active}/{worker.concurrency}",
        relative(worker.started_at),
        relative(worker.seen_at),
    )
