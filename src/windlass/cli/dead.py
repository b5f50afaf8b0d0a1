"""`windlass dead`: jobs that failed for good. They stay until someone decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

from ..admin.bulk import Selection
from ..admin.change import DELETE_DEAD, REPLAY, Change
from ..admin.listing import list_jobs
from ..admin.moment import relative
from ..app import Windlass
from ..core.clock import system_clock, to_ms
from ..core.model import Job, JobQuery
from ..core.states import State
from ..errors import seconds
from .changed import Bulk, change_by_id, change_in_bulk
from .confirm import confirm, yes_option
from .group import Group
from .output import Column
from .page import filter_options, page_options, print_page
from .target import AppName, app_option, ask, existing, json_option, url_option
from .text import masked, one_line
from .values import duration, job_id

COLUMNS: Final = (
    Column("id", whole=True),
    Column("task"),
    Column("queue"),
    Column("runs", number=True),
    Column("died"),
    Column("error"),
)

F = TypeVar("F", bound=Callable[..., Any])


def _ids_or_all(command: F) -> F:
    all_option = click.option("--all", "every", is_flag=True, help="all dead jobs that match")
    ids = click.argument("ids", metavar="[ID]...", nargs=-1, type=job_id)
    return ids(all_option(filter_options(command)))


@click.group(cls=Group)
def dead() -> None:
    """List dead jobs, replay them, or delete them.

    A job is dead when its retries are used up or its handler gave up. It stays until it is
    replayed or deleted.
    """


@dead.command("list")
@page_options
@app_option
@url_option
@json_option
def list_(app: AppName | None, url: str | None, as_json: bool, **filters: Any) -> None:
    """List dead jobs with their errors, newest first.

    Where there are more than --limit, a line on stderr has the --cursor to go on with.
    """
    query = JobQuery(states=(State.DEAD,), **filters)
    with existing(app, url) as found:
        page = ask(found, lambda store: list_jobs(store, query))
    nothing = f"There are no such dead jobs in {masked(found.url)}."
    print_page(page, COLUMNS, _row, nothing, as_json)


@dead.command()
@_ids_or_all
@app_option
@url_option
@json_option
def replay(
    ids: Sequence[str],
    every: bool,
    task: str | None,
    queue: str | None,
    app: AppName | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Make the dead jobs of these IDs pending again, or --all of them, with all their attempts.

    By its id a cancelled job can be replayed too. A job whose unique key another one has by
    now is left as it is. Exits with 3 if some were refused or nothing matched.
    """
    _one_of(ids, every, task, queue)
    with existing(app, url) as found:
        if ids:
            change_by_id(found, REPLAY, ids, as_json)
        else:
            selection = Selection(states=(State.DEAD,), task=task, queue=queue)
            change_in_bulk(found, _bulk(REPLAY, selection, "Replaying"), as_json)


@dead.command()
@_ids_or_all
@yes_option
@app_option
@url_option
@json_option
def delete(
    ids: Sequence[str],
    every: bool,
    task: str | None,
    queue: str | None,
    yes: bool,
    app: AppName | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Delete the dead jobs of these IDs, or --all of them, for good.

    Asks before --all, unless --yes is given. A job that is not dead is refused. Exits with 3
    if some were refused or nothing matched.
    """
    _one_of(ids, every, task, queue)
    with existing(app, url) as found:
        if ids:
            change_by_id(found, DELETE_DEAD, ids, as_json)
        else:
            _purge(found, Selection(states=(State.DEAD,), task=task, queue=queue), yes, as_json)


@dead.command()
@click.option(
    "--older-than",
    type=duration,
    metavar="DURATION",
    help="only jobs that died longer ago than this, as in 90, 12h or 30d",
)
@filter_options
@yes_option
@app_option
@url_option
@json_option
def purge(
    older_than: float | None,
    task: str | None,
    queue: str | None,
    yes: bool,
    app: AppName | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Delete all dead jobs, or those that died long enough ago.

    Asks first, unless --yes is given. Exits with 3 if there was nothing to delete.
    """
    age = None if older_than is None else to_ms(seconds(older_than, "--older-than"))
    with existing(app, url) as found:
        before = None if age is None else (found.clock or system_clock)() - age
        selection = Selection(states=(State.DEAD,), task=task, queue=queue, finished_before=before)
        _purge(found, selection, yes, as_json)


def _one_of(ids: Sequence[str], every: bool, task: str | None, queue: str | None) -> None:
    if bool(ids) == every:
        raise click.UsageError("Give the ids of jobs, or --all.")
    if ids and (task or queue):
        raise click.UsageError("--task and --queue go with --all, not with ids.")


def _purge(app: Windlass, selection: Selection, yes: bool, as_json: bool) -> None:
    bulk = _bulk(DELETE_DEAD, selection, "Deleting")

    def ask_first(most: int) -> None:
        up_to = "up to " if selection.narrowed else ""
        confirm(f"Delete {up_to}{most:,} {bulk.what}, for good?", yes)

    change_in_bulk(app, bulk, as_json, ask_first)


def _bulk(change: Change, selection: Selection, title: str) -> Bulk:
    what = "dead jobs"
    if selection.task is not None:
        what += f" of the task {selection.task}"
    if selection.queue is not None:
        what += f" in the queue {selection.queue}"
    if selection.finished_before is not None:
        what += f" that died {relative(selection.finished_before)} or before"
    return Bulk(change, selection, what, title)


def _row(job: Job) -> Sequence[str]:
    runs = f"{job.attempt}/{job.spec.max_retries + 1}"
    error = "" if job.error is None else one_line(str(job.error))
    return job.id, job.task, job.queue, runs, relative(job.finished_at), error
