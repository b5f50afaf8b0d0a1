"""Pausing and resuming queues, and telling what that changed."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..admin.queues import Switched
from ..admin.queues import switch as switching
from ..app import Windlass
from .output import print_json
from .target import ask
from .text import one_line


def switch(app: Windlass, queues: Sequence[str], *, paused: bool, as_json: bool) -> None:
    """Pause or resume queues. What was so before is told and is no fault."""
    names = list(dict.fromkeys(queues))
    done = ask(app, lambda store: switching(store, names, paused=paused))
    if as_json:
        print_json(
            [{"name": name, "paused": paused, "changed": name in done.changed} for name in names]
        )
        return
    for name in names:
        _tell(name, done, paused)


def _tell(name: str, found: Switched, paused: bool) -> None:
    done = "Paused" if paused else "Resumed"
    if name not in found.changed and name not in found.unknown:
        state = "paused already" if paused else "not paused"
        click.echo(f"windlass: The queue {name} was {state}.", err=True)
        return
    click.echo(one_line(f"{done} {name}."))
    if name in found.unknown:
        # A name that was mistyped would else go unnoticed for long.
        click.echo(
            f"windlass: The queue {name} has no jobs yet; it is paused from its first one on.",
            err=True,
        )
