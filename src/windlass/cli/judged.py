"""What `windlass verify` tells of a simulation, and of a history: which rules held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import SystemRandom
from typing import Any

import click

from .output import print_json
from .text import one_line


def simulated(seed: int | None, steps: int | None, record: Path | None, as_json: bool) -> bool:
    """Run one seed, and tell of it; whether all rules held."""
    from ..testing.chaos.history import History, save
    from ..testing.simulation.plan import plan
    from ..testing.simulation.run import simulate

    chosen = SystemRandom().randrange(2**32) if seed is None else seed
    report = simulate(chosen, given=plan(chosen, steps))
    history = History(report.events, report.outcome)
    if record is not None:
        save(history, record)
    figures = {
        "seed": report.seed,
        "jobs": len(report.outcome.jobs),
        "faults": report.faults,
        "calls": report.calls,
        "simulated_seconds": round(report.seconds),
    }
    return _told(figures, history, as_json)


def judged(folder: Path, as_json: bool) -> bool:
    """Judge a history that was written down, and tell of it; whether all rules held."""
    from ..testing.chaos.history import load
    from ..testing.chaos.record import Fault

    history = load(folder)
    faults = sum(isinstance(event, Fault) for event in history.events)
    figures = {
        "jobs": len(history.outcome.jobs),
        "faults": faults,
        "events": len(history.events),
    }
    return _told(figures, history, as_json)


def _told(figures: dict[str, int], history: Any, as_json: bool) -> bool:
    from ..testing.chaos.rules import RULES, check

    breaches: Sequence[Any] = check(history.events, history.outcome)
    broken = Counter(breach.rule for breach in breaches)
    held = [rule.__name__ for rule in RULES if rule.__name__ not in broken]
    if as_json:
        rest = {"held": held, "breaches": [str(breach) for breach in breaches]}
        print_json(figures | rest | {"kept": not breaches})
        return not breaches
    click.echo(", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in figures.items()))
    for name in held:
        click.echo(f"held: {name.replace('_', ' ')}")
    for breach in breaches:
        click.echo(one_line(f"broken: {breach.rule.replace('_', ' ')}: {breach.text}"))
    click.echo(f"{len(held)} of {len(RULES)} rules held.")
    return not breaches
