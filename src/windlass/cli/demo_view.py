"""What is seen of the demo: a live view on a terminal, a line now and then without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import click

from ..core.states import FINISHED, State
from .demo_shop import Tally
from .output import STYLES, Column, console, print_table

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

LINE_EVERY: Final = 1.0
SHOWN: Final = (
    State.PENDING,
    State.SCHEDULED,
    State.ACTIVE,
    State.RETRY,
    State.COMPLETED,
    State.DEAD,
)


class View:
    """Shows how many jobs are in each state while they run; `total` is how many there will be."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._console: Console = console()
        self._live: Live | None = None
        self._next_line = 0.0

    def __enter__(self) -> View:
        if self._console.is_interactive:
            from rich.live import Live

            self._live = Live(console=self._console, refresh_per_second=10)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, counts: Mapping[State, int], elapsed: float) -> None:
        done = sum(counts.get(state, 0) for state in FINISHED)
        if self._live is not None:
            self._live.update(self._picture(counts, elapsed, done))
        elif elapsed >= self._next_line or done == self._total:
            self._next_line = elapsed + LINE_EVERY
            states = "  ".join(f"{state} {counts.get(state, 0):,}" for state in SHOWN)
            click.echo(f"{elapsed:4.1f} s  {states}")

    def _picture(self, counts: Mapping[State, int], elapsed: float, done: int) -> RenderableType:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        bars = Table.grid(padding=(0, 2, 0, 0))
        for state in SHOWN:
            count, style = counts.get(state, 0), STYLES.get(state.value, "blue")
            bar = ProgressBar(self._total, count, width=30, complete_style=style, style="dim")
            bar.finished_style = style
            bars.add_row(Text(state.value, style), Text(f"{count:,}", justify="right"), bar)
        title = f"{done:,} of {self._total:,} jobs done, {elapsed:.1f} s"
        return Group(Text(title, "bold"), bars)


def print_introduction(total: int) -> None:
    click.echo(
        f"A small shop, about {total:,} jobs on a SQLite file, one worker: quick and slow tasks,\n"
        "some that fail and are tried again, some for later, some that cannot succeed.\n"
    )


def print_summary(tallies: Mapping[str, Tally], seconds: float) -> None:
    columns = [Column("task")]
    columns += [Column(title, number=True) for title in ("jobs", "completed", "dead", "retries")]
    rows = [(task, *(f"{count:,}" for count in tallies[task])) for task in sorted(tallies)]
    click.echo()
    print_table(columns, rows)
    jobs = sum(tally.jobs for tally in tallies.values())
    runs = jobs + sum(tally.retries for tally in tallies.values())
    click.echo(
        f"\n{jobs:,} jobs in {runs:,} runs and {seconds:.1f} s: {jobs / seconds:,.0f} jobs/s, "
        "most of the time spent waiting for the slow ones."
    )
    dead = sum(tally.dead for tally in tallies.values())
    click.echo(
        f"\nThe {dead} dead jobs have failed for good, on purpose. "
        "Dead jobs stay until you replay or delete them.\n\n"
        "Next:\n"
        "  write a task of your own   docs/tutorial.md\n"
        "  look at jobs in a browser  windlass server, then http://127.0.0.1:8080\n"
        "  or in the terminal         windlass top\n"
        "The tasks of this shop are in windlass/cli/demo_shop.py."
    )
