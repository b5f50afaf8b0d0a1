"""A page of a listing: the options that choose it, and how it is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from ..admin.record import record
from ..core.model import Job, Page
from .output import Column, print_json, print_table
from .values import name

F = TypeVar("F", bound=Callable[..., Any])


def filter_options(command: F) -> F:
    for option in (
        click.option("-t", "--task", type=name, metavar="NAME", help="only jobs of this task"),
        click.option("-q", "--queue", type=name, metavar="NAME", help="only jobs of this queue"),
    ):
        command = option(command)
    return command


def page_options(command: F) -> F:
    """Those of a filter, and how much of it to show."""
    cursor = click.option("--cursor", metavar="CURSOR", help="go on where a listing before ended")
    limit = click.option(
        "-n",
        "--limit",
        default=50,
        show_default=True,
        type=click.IntRange(min=1),
        help="the most jobs to list",
    )
    return filter_options(limit(cursor(command)))


def print_page(
    page: Page,
    columns: Sequence[Column],
    row: Callable[[Job], Sequence[str]],
    nothing: str,
    as_json: bool,
) -> None:
    """A table or JSON; `nothing` is said of an empty table. The way on goes to stderr."""
    if as_json:
        print_json([record(job) for job in page.jobs])
    elif page.jobs:
        print_table(columns, [row(job) for job in page.jobs])
    else:
        click.echo(nothing)
    if page.cursor is not None:
        click.echo(f"There are more; go on with --cursor {page.cursor}", err=True)
