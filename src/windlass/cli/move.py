"""`windlass move`: take all jobs of a live app to another store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import click

from ..admin.move import Report, Stage, count
from ..admin.move import move as move_jobs
from ..stores.contract import Store
from ..stores.open import open_store
from .bar import Bar
from .confirm import confirm, yes_option
from .loop import run
from .output import Column, print_json, print_table
from .refusal import Refusal, Unmet
from .target import json_option, with_setting
from .text import masked, one_line

SHOWN: Final = 20
"""The most jobs that are named one by one, of those that cannot move."""

COLUMNS: Final = (
    Column("queue"),
    Column("state"),
    Column("moved", number=True),
    Column("in target", number=True),
)


@click.command()
@click.argument("source")
@click.argument("target")
@yes_option
@json_option
def move(source: str, target: str, yes: bool, as_json: bool) -> None:
    """Move all jobs, in whatever state, from the store SOURCE to the store TARGET.

    Both are URLs. The queues are paused on both; workers of SOURCE end what they have begun;
    then the jobs move; then the queues of TARGET are resumed, but for those that people had
    paused. Those of SOURCE stay paused. A move that was interrupted goes on when it is run
    again. Asks first, unless --yes is given. Exits with 3 if jobs had to stay on SOURCE or are
    missing on TARGET.
    """
    for url in (source, target):
        _refuse_what_cannot_be(url)
    place = with_setting(source, "create", "off") if source.startswith("sqlite:") else source
    most = run(_count(place))
    confirm(
        f"Move {_jobs(most)} from {masked(source)} to {masked(target)}? "
        "Their queues are paused until all have moved.",
        yes,
    )
    _tell(_carry_out(place, target), as_json)


def _refuse_what_cannot_be(url: str) -> None:
    open_store(url)  # refuses what no store serves, as it was written
    if url.startswith("memory:"):
        raise Refusal("A store in memory ends with its process: name another one.")


async def _count(source: str) -> int:
    async with _opened(source) as store:
        return await count(store)


async def _move(source: str, target: str, bar: Bar) -> Report:
    def show(stage: Stage) -> None:
        title = f"Waiting for {_jobs(stage.active)} to end" if stage.active else "Moving"
        bar.show(title, stage.moved, stage.total)

    async with _opened(source) as old, _opened(target) as new:
        return await move_jobs(old, new, show)


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Store]:
    store = open_store(url)
    try:
        await store.open()
        yield store
    finally:
        await store.close()


def _carry_out(source: str, target: str) -> Report:
    with Bar("Moving", None) as bar:
        try:
            return run(_move(source, target, bar))
        except BaseException:
            if bar.count:
                done = f"{_jobs(bar.count)} had moved before this ended; run it again to go on."
                click.echo(f"windlass: {done}", err=True)
            raise


def _tell(report: Report, as_json: bool) -> None:
    moved = sorted(report.moved.items())
    if as_json:
        print_json(
            {
                "count": report.moved.total(),
                "moved": [
                    {"queue": queue, "state": state, "count": number}
                    | {"in_target": report.target[queue, state]}
                    for (queue, state), number in moved
                ],
                "left": [left._asdict() for left in report.left],
                "missing": report.missing,
            }
        )
    else:
        _print(report)
    if report.left:
        raise Unmet(f"{_jobs(len(report.left))} stayed on the source, where nothing runs.")
    if report.missing:
        raise Unmet(_missing(report))


def _print(report: Report) -> None:
    rows = [
        (queue, state.value, f"{number:,}", f"{report.target[queue, state]:,}")
        for (queue, state), number in sorted(report.moved.items())
    ]
    if rows:
        print_table(COLUMNS, rows)
    click.echo(f"Moved {_jobs(report.moved.total())}.")
    for left in report.left[:SHOWN]:
        click.echo(f"windlass: {one_line(left.reason)}", err=True)
    if len(report.left) > SHOWN:
        more = f"The others of {_jobs(len(report.left))} are left out here; --json names them all."
        click.echo(f"windlass: {more}", err=True)


def _missing(report: Report) -> str:
    lacking = ", ".join(f"{number:,} in {queue}" for queue, number in report.missing.items())
    return (
        f"The target has fewer jobs than it was given ({lacking}); "
        "someone has deleted or cancelled them there, or it has lost them."
    )


def _jobs(number: int) -> str:
    return f"{number:,} job{'' if number == 1 else 's'}"
