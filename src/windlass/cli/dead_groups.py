"""`windlass dead groups` and `windlass dead export`: what killed jobs, and jobs to take away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click
import msgspec

from ..admin.dead import DeadGroup, group_dead
from ..admin.moment import iso, relative
from .output import Column, print_json, print_table
from .page import filter_options
from .target import AppName, app_option, ask, existing, json_option, url_option
from .text import masked, one_line

COLUMNS: Final = (
    Column("fingerprint", whole=True),
    Column("jobs", number=True),
    Column("task"),
    Column("last"),
    Column("error"),
)


@click.command()
@filter_options
@app_option
@url_option
@json_option
def groups(
    task: str | None, queue: str | None, app: AppName | None, url: str | None, as_json: bool
) -> None:
    """Group dead jobs by what killed them, the largest group first.

    Errors are alike if they differ in numbers, ids and the like alone, shown as an ellipsis. The
    fingerprint of a group is what dead replay and dead delete take with --fingerprint.
    """
    with existing(app, url) as found:
        known = ask(found, lambda store: group_dead(store, queue, task))
    if as_json:
        rows = [_record(group) for group in known.groups]
        print_json({"groups": rows, "looked_at": known.looked_at, "complete": known.complete})
        return
    if not known.groups:
        click.echo(f"There are no such dead jobs in {masked(found.url)}.")
        return
    print_table(COLUMNS, [_row(group) for group in known.groups])
    if not known.complete:
        click.echo(f"These are groups of the {known.looked_at:,} newest dead jobs.", err=True)


@click.command()
@filter_options
@click.option("--fingerprint", metavar="FINGERPRINT", help="only jobs of this group")
@app_option
@url_option
def export(
    task: str | None,
    queue: str | None,
    fingerprint: str | None,
    app: AppName | None,
    url: str | None,
) -> None:
    """Print dead jobs with their arguments as JSON, one in a line, newest first."""
    given = {"task": task, "queue": queue, "fingerprint": fingerprint}
    which = {name: value for name, value in given.items() if value is not None}
    with existing(app, url) as found:
        for job in found.dead.export(**which):  # type: ignore[arg-type]
            click.echo(msgspec.json.encode(job))


def _record(group: DeadGroup) -> dict[str, object]:
    fields = msgspec.structs.asdict(group)
    return {**fields, "first_at": iso(group.first_at), "last_at": iso(group.last_at)}


def _row(group: DeadGroup) -> Sequence[str]:
    error = one_line(f"{group.kind}: {group.pattern}")
    return group.fingerprint, f"{group.count:,}", group.task, relative(group.last_at), error
