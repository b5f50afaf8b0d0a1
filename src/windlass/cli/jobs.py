"""`windlass jobs`: which jobs there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import click

from ..admin.listing import list_jobs
from ..admin.moment import relative
from ..core.model import Job, JobQuery
from ..core.states import FINISHED, State
from .output import Column
from .page import page_options, print_page
from .target import AppName, app_option, ask, existing, json_option, url_option
from .text import masked

COLUMNS: Final = (
    Column("id", whole=True),
    Column("state"),
    Column("task"),
    Column("queue"),
    Column("runs", number=True),
    Column("when"),
)


@click.command()
@click.option(
    "-s",
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in State]),
    help="only jobs in this state; can be given again",
)
@page_options
@app_option
@url_option
@json_option
def jobs(
    states: Sequence[str],
    app: AppName | None,
    url: str | None,
    as_json: bool,
    **filters: Any,
) -> None:
    """List jobs, state by state.

    Pending jobs come in the order in which they will run, scheduled ones and those that
    will be tried again by their time, finished ones newest first. Where there are more than
    --limit, a line on stderr has the --cursor to go on with.
    """
    chosen = tuple(State(state) for state in dict.fromkeys(states))
    query = JobQuery(states=chosen, brief=True, **filters)
    with existing(app, url) as found:
        page = ask(found, lambda store: list_jobs(store, query))
    nothing = f"There are no such jobs in {masked(found.url)}."
    print_page(page, COLUMNS, _row, nothing, as_json)


def _row(job: Job) -> Sequence[str]:
    runs = f"{job.attempt}/{job.spec.max_retries + 1}"
    return job.id, job.state.value, job.task, job.queue, runs, relative(_when(job))


def _when(job: Job) -> int | None:
    """The moment that says most of a job in its state."""
    if job.state in FINISHED:
        return job.finished_at
    if job.state is State.ACTIVE:
        return job.started_at
    return job.due if job.state in (State.SCHEDULED, State.RETRY) else job.created_at
