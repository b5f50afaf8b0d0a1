"""`windlass queues`: how much there is to do, and where."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..core.model import QueueStats
from ..core.states import State
from .output import Column, print_json, print_table
from .target import AppName, app_option, ask, existing, json_option, url_option
from .text import masked


@click.command()
@app_option
@url_option
@json_option
def queues(app: AppName | None, url: str | None, as_json: bool) -> None:
    """Count the jobs of every queue, state by state, and tell which queues are paused."""
    with existing(app, url) as found:
        stats = ask(found, lambda store: store.queues())
        if as_json:
            print_json([_record(queue) for queue in stats])
        elif stats:
            _print(stats)
        else:
            click.echo(f"There are no queues in {masked(found.url)}.")


def _record(queue: QueueStats) -> dict[str, object]:
    counts = {state.value: queue.counts.get(state, 0) for state in State}
    return {"name": queue.name, "paused": queue.paused, "counts": counts}


def _print(stats: Sequence[QueueStats]) -> None:
    """States that no queue has jobs in are left out: few terminals are that wide."""
    states = [state for state in State if any(queue.counts.get(state) for queue in stats)]
    columns = [Column("queue"), *(Column(state.value, number=True) for state in states)]
    rows = [
        [queue.name, *(f"{queue.counts.get(state, 0):,}" for state in states)] for queue in stats
    ]
    if any(queue.paused for queue in stats):
        columns.append(Column("paused"))
        for row, queue in zip(rows, stats, strict=True):
            row.append("paused" if queue.paused else "")
    print_table(columns, rows)
