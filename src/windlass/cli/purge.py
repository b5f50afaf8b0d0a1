"""`windlass purge`: empty a queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from ..admin.change import delete
from ..admin.queues import purging
from ..core.states import State
from .changed import Bulk, change_in_bulk
from .confirm import confirm, yes_option
from .target import AppName, app_option, existing, json_option, url_option
from .values import name

STATES: Final = [state for state in State if state is not State.ACTIVE]


@click.command()
@click.argument("queue", type=name)
@click.option(
    "-s",
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in STATES]),
    help="delete jobs in this state instead; can be given again",
)
@click.option("-t", "--task", type=name, metavar="NAME", help="only jobs of this task")
@yes_option
@app_option
@url_option
@json_option
def purge(
    queue: str,
    states: Sequence[str],
    task: str | None,
    yes: bool,
    app: AppName | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Delete all jobs that wait in QUEUE: blocked, scheduled, pending and retry.

    Running jobs are never touched, finished ones only if --state asks for them. Asks first,
    unless --yes is given. Exits with 3 if there was nothing to delete.
    """
    selection = purging(queue, [State(state) for state in dict.fromkeys(states)], task)
    of_task = "" if task is None else f" of the task {task}"
    what = f"{_listed(selection.states)} jobs{of_task} in the queue {queue}"
    bulk = Bulk(delete(frozenset(selection.states)), selection, what, "Deleting")

    def ask_first(most: int) -> None:
        confirm(f"Delete {'up to ' if task else ''}{most:,} {what}, for good?", yes)

    with existing(app, url) as found:
        change_in_bulk(found, bulk, as_json, ask_first)


def _listed(states: Sequence[State]) -> str:
    *first, last = (state.value for state in states)
    return f"{', '.join(first)} or {last}" if first else last
