"""Carries out what changes jobs, and tells what it came to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import click

from ..admin.bulk import Total, change_all, count
from ..admin.change import Change, change_jobs
from ..admin.selection import Selection
from ..app import Windlass
from .bar import Bar
from .cancelled import Cancelled
from .output import print_json
from .refusal import Unmet
from .target import ask
from .text import one_line


def change_by_id(app: Windlass, change: Change, ids: Sequence[str], as_json: bool) -> None:
    """Change the jobs of these ids; each that cannot be changed gets a sentence on stderr."""
    cancelled = Cancelled(app)
    answer = ask(app, lambda store: change_jobs(store, change, ids))
    ask(app, cancelled.tell)
    if as_json:
        print_json({"count": len(answer.changed), "ids": answer.changed, "refused": answer.refused})
    else:
        for sentence in answer.refused.values():
            click.echo(f"windlass: {one_line(sentence)}", err=True)
        if answer.changed:
            click.echo(_summary(change, len(answer.changed)))
    if answer.refused:
        click.get_current_context().exit(Unmet.exit_code)


class Bulk(NamedTuple):
    """A change to all jobs of a selection, with the words for it."""

    change: Change
    selection: Selection
    what: str
    """the jobs, as in: pending jobs of the queue mail"""
    title: str
    """what the bar says"""


def change_in_bulk(
    app: Windlass, bulk: Bulk, as_json: bool, confirm: Callable[[int], None] | None = None
) -> None:
    """Change all that is selected. `confirm` gets the most that it can be, and may end it."""
    change, selection = bulk.change, bulk.selection
    most = ask(app, lambda store: count(store, selection))
    total = Total()
    if most:
        if confirm is not None:
            confirm(most)
        total = _carry_out(app, bulk, most)
    if as_json:
        print_json({"count": total.changed, "left": total.left})
    elif total.changed:
        click.echo(_summary(change, total.changed))
    if not any(total):
        raise Unmet(f"Nothing was {change.done}: there are no {bulk.what}.")
    if total.left:
        raise Unmet(
            f"{_jobs(total.left)} could not be {change.done}: claimed, changed or replaced by "
            "another with the same unique key meanwhile."
        )


def _carry_out(app: Windlass, bulk: Bulk, most: int) -> Total:
    with Bar(bulk.title, None if bulk.selection.narrowed else most) as bar:
        try:
            return ask(
                app,
                lambda store: change_all(store, bulk.change, bulk.selection, most, bar.advance),
            )
        except BaseException:
            if bar.count:
                done = f"{_jobs(bar.count)} had been gone through before this ended."
                click.echo(f"windlass: {done}", err=True)
            raise


def _summary(change: Change, number: int) -> str:
    return f"{change.done.capitalize()} {_jobs(number)}."


def _jobs(number: int) -> str:
    return f"{number:,} job{'' if number == 1 else 's'}"
