"""`windlass verify`: whether a store of your own keeps what is promised."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from .bar import Bar
from .judged import judged, simulated
from .loop import run
from .output import print_json
from .target import json_option
from .text import masked, one_line
from .values import duration

BROKEN: Final = 5
FOLDER: Final = click.Path(file_okay=False, path_type=Path)


@click.command()
@click.argument("url", required=False)
@click.option("--theme", default="", help="only the checks of one theme, as in claim")
@click.option("--chaos", type=duration, default=10.0, help="how long to kill workers; 0 is not")
@click.option("--simulate", is_flag=True, help="simulate workers, time and faults instead")
@click.option("--seed", type=click.IntRange(0), help="of the simulation; the same is the same run")
@click.option("--steps", type=click.IntRange(1, 10_000), help="simulate so many jobs and faults")
@click.option("--record", type=FOLDER, help="keep what happened in this folder")
@click.option("--history", type=FOLDER, help="judge what was kept in this folder instead")
@json_option
def verify(
    url: str | None,
    theme: str,
    chaos: float,
    simulate: bool,
    record: Path | None,
    history: Path | None,
    as_json: bool,
    **drawn: int | None,
) -> None:
    """Check that your database keeps every guarantee of Windlass.

    Runs the conformance suite, and then real worker processes that are killed, stopped and
    woken again, in private places on that server: nothing that is there is touched, and nothing
    is left behind. Exits with 5 if a promise was not kept.

    With --simulate, the real code of workers runs on a store in memory and on a clock that jumps,
    and is killed, halted and cut off as a seed says. With --history, what an earlier run has kept
    by --record is judged again.
    """
    if (url is not None) + simulate + (history is not None) != 1:
        raise click.UsageError("Give one of these: a store's URL, --simulate, --history FOLDER.")
    if not simulate and any(number is not None for number in drawn.values()):
        raise click.UsageError("--seed and --steps are of the simulation; add --simulate.")
    if history is not None:
        kept = judged(history, as_json)
    elif url is None:
        kept = simulated(drawn["seed"], drawn["steps"], record, as_json)
    else:
        kept = _held(url, theme, chaos, record, as_json)
    if not kept:
        sys.exit(BROKEN)


def _held(url: str, theme: str, chaos: float, record: Path | None, as_json: bool) -> bool:
    from ..testing import suite
    from ..testing.chaos.history import save
    from ..testing.chaos.plan import ChaosPlan
    from ..testing.verify import verify as hold
    from ..testing.verify import wanted

    checks = wanted(theme)
    if not checks:
        raise click.BadParameter(f"there is none; known are {', '.join(suite.themes())}.")
    plan = ChaosPlan(seconds=chaos) if chaos else None
    keep = None if record is None else partial(save, folder=record)
    with Bar("verify", len(checks)) as bar:
        result = run(hold(url, checks, plan, lambda: bar.advance(1), keep))
    if as_json:
        print_json(_record(result))
    else:
        _print(result, masked(url))
    return bool(result.is_clean)


def _record(result: Any) -> dict[str, Any]:
    chaos = result.chaos
    return {
        "checks": result.checks,
        "failed": [{"check": f"{f.theme} {f.check}", "reason": f.reason} for f in result.failed],
        "chaos": None if chaos is None else _figures(chaos),
        "kept": result.is_clean,
    }


def _figures(chaos: Any) -> dict[str, Any]:
    return {
        "jobs": chaos.jobs,
        "kills": chaos.kills,
        "executed_twice": chaos.executed_twice,
        "completed_twice": chaos.completed_twice,
        "lost": chaos.lost,
        "breaches": [str(breach) for breach in chaos.breaches],
    }


def _print(result: Any, url: str) -> None:
    for each in result.failed:
        click.echo(one_line(f"failed: {each.theme}: {each.check.replace('_', ' ')}: {each.reason}"))
    passed = result.checks - len(result.failed)
    click.echo(f"conformance: {passed:,} of {result.checks:,} checks passed")
    if result.chaos is not None:
        figures = _figures(result.chaos)
        for breach in figures.pop("breaches"):
            click.echo(one_line(f"broken: {breach}"))
        told = ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in figures.items())
        click.echo(f"chaos: {told}")
    kept = "keeps" if result.is_clean else "does not keep"
    click.echo(f"{url} {kept} what is promised.")
