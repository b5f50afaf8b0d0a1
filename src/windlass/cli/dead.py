"""`windlass dead`: jobs that failed for good. They stay until someone decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import click
from msgspec.structs import replace

from ..admin.change import DELETE_DEAD, Change, replaying
from ..admin.listing import list_jobs
from ..admin.moment import relative
from ..admin.selection import Selection
from ..app import Windlass
from ..core.clock import system_clock, to_ms
from ..core.model import Job, JobQuery
from ..core.states import State
from ..errors import seconds
from .changed import Bulk, change_by_id, change_in_bulk
from .confirm import confirm, yes_option
from .dead_groups import export, groups
from .dead_replay import edit_options, replay_edited
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

DEAD: Final = Selection(states=(State.DEAD,))
FILTERS: Final = ("task", "queue", "fingerprint")

F = TypeVar("F", bound=Callable[..., Any])


def _ids_or_all(command: F) -> F:
    all_option = click.option("--all", "every", is_flag=True, help="all dead jobs that match")
    ids = click.argument("ids", metavar="[ID]...", nargs=-1, type=job_id)
    return ids(all_option(filter_options(fingerprint_option(command))))


def fingerprint_option(command: F) -> F:
    return click.option(
        "--fingerprint", metavar="FINGERPRINT", help="only jobs of this group: see dead groups"
    )(command)


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
@edit_options
@app_option
@url_option
@json_option
def replay(
    ids: Sequence[str],
    every: bool,
    app: AppName | None,
    url: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Make the dead jobs of these IDs pending again, or --all of them, with all their attempts.

    By its id a cancelled job can be replayed too. With a job of a workflow comes back what is dead
    or cancelled of all of it. A job whose unique key another one has by now is left as it is.
    Exits with 3 if some were refused or nothing matched.

    One ID can be replayed with other arguments, given as JSON, or other options: then --queue is
    the queue that it goes to. A new job takes its place, whose id is printed.
    """
    which = {name: given.pop(name) for name in FILTERS}
    edit = {name: value for name, value in given.items() if value is not None}
    if len(ids) == 1 and which["queue"] is not None:
        edit["queue"] = which.pop("queue")
    if edit and len(ids) != 1:
        raise click.UsageError("What is to be different goes with the id of one job.")
    _one_of(ids, every, which)
    with existing(app, url) as found:
        change = replaying(found.codecs)
        if edit:
            replay_edited(found, ids[0], edit, as_json)
        elif ids:
            change_by_id(found, change, ids, as_json)
        else:
            change_in_bulk(found, _bulk(change, _dead(which), "Replaying"), as_json)


@dead.command()
@_ids_or_all
@yes_option
@app_option
@url_option
@json_option
def delete(
    ids: Sequence[str],
    every: bool,
    yes: bool,
    app: AppName | None,
    url: str | None,
    as_json: bool,
    **which: str | None,
) -> None:
    """Delete the dead jobs of these IDs, or --all of them, for good.

    Asks before --all, unless --yes is given. A job that is not dead is refused. Exits with 3
    if some were refused or nothing matched.
    """
    _one_of(ids, every, which)
    with existing(app, url) as found:
        if ids:
            change_by_id(found, DELETE_DEAD, ids, as_json)
        else:
            _purge(found, _dead(which), yes, as_json)


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
        selection = Selection(states=(State.DEAD,), task=task, queue=queue, until=before)
        _purge(found, selection, yes, as_json)


def _one_of(ids: Sequence[str], every: bool, which: Mapping[str, str | None]) -> None:
    """Raise unless jobs are named or all that match are meant, which a fingerprint says as well."""
    if bool(ids) == (every or (not ids and which.get("fingerprint") is not None)):
        raise click.UsageError("Give the ids of jobs, or --all.")
    if ids and any(which.values()):
        raise click.UsageError("--task, --queue and --fingerprint go with --all, not with ids.")


def _dead(which: Mapping[str, str | None]) -> Selection:
    return replace(DEAD, **which)


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
    if selection.fingerprint is not None:
        what += f" of the group {selection.fingerprint}"
    if selection.until is not None:
        what += f" that died {relative(selection.until)} or before"
    return Bulk(change, selection, what, title)


def _row(job: Job) -> Sequence[str]:
    runs = f"{job.attempt}/{job.spec.max_retries + 1}"
    error = "" if job.error is None else one_line(str(job.error))
    return job.id, job.task, job.queue, runs, relative(job.finished_at), error


dead.add_command(groups)
dead.add_command(export)
