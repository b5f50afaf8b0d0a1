"""A long look for what must never happen: `make soak`, or `python -m tests.chaos.soak SECONDS`.

First the simulation, then real processes on each store in turn, then handlers that are stopped;
tables at the end. Exit code 1 if a promise was broken. `SECONDS` is for the first two, and 0 leaves
them out: `make soak SECONDS=0 ARGS="--stops 2000 --stores sqlite --pythons 3.11"`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Mapping
from random import SystemRandom

from rich.console import Console
from rich.table import Table

from tests.chaos import cancels
from tests.chaos.stop_soak import PLACES, soak
from tests.chaos.stores import SITES
from windlass.testing.chaos.plan import ChaosPlan
from windlass.testing.chaos.run import run
from windlass.testing.chaos.verdict import Verdict
from windlass.testing.simulation.run import simulate

SIMULATED = 0.1
"""The part of the time that the simulation gets."""

AFTERWARDS = 15.0
"""About how long it takes from the last fault of a store to the verdict."""

COLUMNS = (
    "store",
    "jobs",
    "by the server",
    "kills",
    "stops",
    "store faults",
    "executed twice",
    "completed twice",
    "lost",
    "other breaches",
    "recovery p50",
    "recovery p99",
)


def main() -> int:
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 150)
    broken = options.seconds > 0 and _hurt(options, console)
    names = [name for name in options.stores or PLACES if name in PLACES]
    if options.cancels:
        broken = cancels.soak(options.cancels, names, console) or broken
    if options.stops:
        broken = soak(options.stops, names, options.pythons or (), console) or broken
    return int(broken)


def _hurt(options: argparse.Namespace, console: Console) -> bool:
    """Whether a promise was broken while processes and servers were killed."""
    names = options.stores or list(SITES)
    broken = _simulated(options.seconds * SIMULATED, console)
    each = options.seconds * (1 - SIMULATED) / len(names)
    plan = ChaosPlan(
        seconds=max(each - AFTERWARDS, 5.0),
        jobs=int(max(each - AFTERWARDS, 5.0) * options.rate),
        kills_per_second=options.kills,
        workers=4,
        concurrency=100,
        patience=180.0,
    )
    table = Table(title="Windlass: what a soak found")
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == "store" else "right")
    verdicts: dict[str, Verdict] = {}
    for name in names:
        console.print(f"Hurting {name} for {plan.seconds:.0f} s …")
        with SITES[name]() as site:
            verdict = asyncio.run(run(site.url, plan, site.harms))
        verdicts[name] = verdict
        table.add_row(name, *_cells(verdict))
        for breach in verdict.breaches[:20]:
            console.print(f"{name}: {breach}")
        broken = broken or not verdict.is_clean
    console.print(table, _faults(verdicts))
    return broken


def _faults(verdicts: Mapping[str, Verdict]) -> Table:
    """How often each kind of thing was done to each store and to those who work on it."""
    table = Table("fault", title="What was done")
    for name in verdicts:
        table.add_column(name, justify="right")
    for kind in sorted({kind for verdict in verdicts.values() for kind in verdict.faults}):
        numbers = [verdict.faults.get(kind, 0) for verdict in verdicts.values()]
        table.add_row(kind, *(f"{number:,}" if number else "" for number in numbers))
    return table


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("seconds", nargs="?", type=float, default=600.0)
    parser.add_argument("--stores", nargs="*", choices=list(SITES))
    parser.add_argument("--rate", type=float, default=500.0, help="jobs for each second")
    parser.add_argument("--kills", type=float, default=1.0, help="kills for each second")
    parser.add_argument("--cancels", type=float, default=60.0, help="seconds of bulk cancels each")
    parser.add_argument("--stops", type=int, default=10_000, help="stops on each store and Python")
    parser.add_argument("--pythons", nargs="*", help="versions to stop handlers on, such as 3.12")
    return parser.parse_args()


def _simulated(seconds: float, console: Console) -> bool:
    """Whether a seed showed a breach."""
    until, number, faults = time.monotonic() + seconds, 0, 0
    while time.monotonic() < until:
        report = simulate(SystemRandom().randrange(2**32))
        number, faults = number + 1, faults + report.faults
        if report.breaches:
            console.print(f"simulation, seed {report.seed}: {report.breaches[0]}")
            return True
    console.print(f"simulation: {number:,} seeds with {faults:,} faults, no breach")
    return False


def _cells(verdict: Verdict) -> list[str]:
    times = [verdict.recovery(part) for part in (0.5, 0.99)]
    rest = len(verdict.breaches) - verdict.completed_twice - verdict.lost
    figures = (
        verdict.jobs,
        verdict.served,
        verdict.kills,
        verdict.stops,
        verdict.restarts,
        verdict.executed_twice,
        verdict.completed_twice,
        verdict.lost,
        rest,
    )
    return [f"{n:,}" for n in figures] + ["" if t is None else f"{t:.1f} s" for t in times]


if __name__ == "__main__":
    sys.exit(main())
