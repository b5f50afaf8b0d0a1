"""`windlass history`: jobs that are over, searched in the database that keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click
from msgspec.structs import asdict

from ..admin.listing import list_jobs
from ..admin.moment import iso, relative
from ..admin.record import error_record, full_record
from ..app import Windlass
from ..config import HistorySettings
from ..core.model import Job
from ..core.states import State
from ..history.history import History, to_query
from ..history.open import open_archive
from ..history.query import Attempt, Sort
from ..scheduler.handover import hand_over
from ..stores.contract import Store
from .archive import history_option, place_of, searched
from .confirm import confirm, yes_option
from .group import Group
from .job import lines
from .loop import run
from .output import Column, print_json, print_table
from .page import page_options, print_page
from .target import (
    AppName,
    app_option,
    ask,
    existing,
    json_option,
    opened,
    url_option,
    with_setting,
)
from .text import masked, one_line, shown
from .values import duration, job_id, label, past

COLUMNS: Final = (
    Column("id", whole=True),
    Column("state"),
    Column("task"),
    Column("queue"),
    Column("runs", number=True),
    Column("took", number=True),
    Column("ended"),
    Column("error"),
)
ATTEMPT_COLUMNS: Final = (
    Column("run", number=True),
    Column("came to"),
    Column("started"),
    Column("took", number=True),
    Column("worker"),
    Column("error"),
)
PORTION: Final = 500

F = TypeVar("F", bound=Callable[..., Any])


@click.group(cls=Group)
def history() -> None:
    """Search jobs that are over, in the database that keeps them.

    That is the one of --history, of the app, of WINDLASS_HISTORY, or of url in [history] of
    windlass.toml. Workers of an app that has one write it.
    """


@history.command("list")
@click.option(
    "-s",
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in State]),
    help="only jobs that ended so; can be given again  [default: all that are finished]",
)
@click.option("--since", type=past, metavar="TIME", help="ended then or later; 2h is so long ago")
@click.option("--until", type=past, metavar="TIME", help="ended before then")
@click.option(
    "-l",
    "--label",
    "labels",
    multiple=True,
    type=label,
    metavar="NAME=VALUE",
    help="has this label",
)
@click.option("--error", metavar="TEXT", help="the error has this in its type or its text")
@click.option("--longer", "min_duration", type=duration, metavar="DURATION", help="took so long")
@click.option(
    "--shorter", "max_duration", type=duration, metavar="DURATION", help="took no longer than this"
)
@click.option(
    "--sort",
    type=click.Choice([sort.value for sort in Sort]),
    default=Sort.FINISHED.value,
    show_default=True,
    help="what to list by, the largest first",
)
@click.option("--ascending", is_flag=True, help="the smallest first")
@page_options
@app_option
@history_option
@json_option
def list_(app: AppName | None, place: str | None, as_json: bool, **filters: Any) -> None:
    """List jobs that are over, those that ended last first.

    Where there are more than --limit, a line on stderr has the --cursor to go on with.
    """
    given = {name: value for name, value in filters.items() if value not in (None, ())}
    given["labels"] = dict(given.get("labels", ()))
    query = to_query(given)  # type: ignore[arg-type]
    with opened(app, None) as owner, searched(owner, place) as found:
        page = found.block(lambda archive: list_jobs(archive, query))
    nothing = f"There are no such jobs in {masked(found.settings.url)}."
    print_page(page, COLUMNS, _row, nothing, as_json)


@history.command()
@click.argument("id", type=job_id)
@app_option
@history_option
@json_option
def show(id: str, app: AppName | None, place: str | None, as_json: bool) -> None:
    """Show the job ID as it was when it ended, and each of its attempts.

    Arguments in msgpack or JSON can be read by everyone; those of a codec of your own only
    with the app that has it (-A).
    """
    with opened(app, None) as owner, searched(owner, place) as found:
        job, attempts = found.get(id), found.attempts(id)
        fields = full_record(job, owner.codecs)
    if as_json:
        print_json(asdict(fields) | {"attempts": [_attempt(each) for each in attempts]})
        return
    click.echo(shown("\n".join(lines(job, fields))))
    if attempts:
        click.echo()
        print_table(ATTEMPT_COLUMNS, map(_attempt_row, attempts))


@history.command()
@app_option
@history_option
def migrate(app: AppName | None, place: str | None) -> None:
    """Bring the schema of the database up to date and name what was applied.

    Workers do this by themselves, unless its URL says migrate=off.
    """
    with opened(app, None) as owner:
        url = place_of(owner, place)
    # Opening must not do it first, or there would be nothing left to name.
    unprepared = History(lambda: HistorySettings(url=with_setting(url, "migrate", "off")))
    try:
        applied = unprepared.block(lambda archive: archive.migrate())
    finally:
        unprepared.close()
    for name in applied:
        click.echo(f"Applied {name}.")
    if not applied:
        click.echo(f"The schema of {masked(url)} is up to date.")


@history.command()
@app_option
@url_option
@history_option
def flush(app: AppName | None, url: str | None, place: str | None) -> None:
    """Write what has ended and is not in history yet, as workers do all the time.

    For a store that has no workers any more, before it goes.
    """
    with existing(app, url) as found:
        number = run(_flush(found, place_of(found, place)))
    click.echo(f"Wrote {number:,} notes.")


async def _flush(app: Windlass, place: str) -> int:
    archive = open_archive(place)
    await archive.open()
    try:
        return await hand_over(await app.client.store(), archive)
    finally:
        await archive.close()
        await app.aclose()


@history.command()
@click.option("--discard", is_flag=True, help="drop what was noted and is not in history yet")
@yes_option
@app_option
@url_option
def off(discard: bool, yes: bool, app: AppName | None, url: str | None) -> None:
    """Stop noting in the store what ends, for a history that is no longer kept.

    Take it out of the settings of all workers first: each that starts with a history switches
    it on again. What was noted stays in the store, until a worker hands it over, or --discard.
    """
    if discard:
        confirm("Drop what has ended and is not in history yet, for good?", yes)
    with existing(app, url) as found:
        dropped = ask(found, lambda store: _switch_off(store, discard))
    click.echo(f"{masked(found.url)} notes nothing any more.")
    if discard:
        click.echo(f"Dropped {dropped:,} notes.")


async def _switch_off(store: Store, discard: bool) -> int:
    await store.keep_journal(False)
    dropped = 0
    while discard and (entries := await store.read_journal(PORTION)):
        await store.trim_journal(entries)
        dropped += len(entries)
    return dropped


def _row(job: Job) -> Sequence[str]:
    runs = f"{job.attempt}/{job.spec.max_retries + 1}"
    ended = relative(job.finished_at)
    error = one_line(str(job.error)) if job.error and job.state is not State.COMPLETED else ""
    took = _took(job.started_at, job.finished_at)
    return job.id, job.state.value, job.task, job.queue, runs, took, ended, error


def _took(started_at: int | None, ended_at: int | None) -> str:
    if started_at is None or ended_at is None:
        return ""
    return f"{max(ended_at - started_at, 0) / 1000:.3f} s"


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "fence": attempt.fence,
        "state": attempt.state.value,
        "started_at": iso(attempt.started_at),
        "ended_at": iso(attempt.ended_at),
        "duration": attempt.duration / 1000,
        "worker": attempt.worker,
        "error": error_record(attempt.error),
    }


def _attempt_row(attempt: Attempt) -> Sequence[str]:
    error = "" if attempt.error is None else one_line(str(attempt.error))
    started = iso(attempt.started_at) or ""
    took = f"{attempt.duration / 1000:.3f} s"
    return str(attempt.number), attempt.state.value, started, took, attempt.worker or "", error
