"""Pausing and resuming queues, and telling what that changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from ..app import Windlass
from ..core.model import QueueStats
from ..stores.contract import Store
from .output import print_json
from .target import ask
from .text import one_line


def switch(app: Windlass, queues: Sequence[str], *, paused: bool, as_json: bool) -> None:
    """Pause or resume queues. What was so before is told and is no fault."""
    names = list(dict.fromkeys(queues))
    before = ask(app, lambda store: _switch(store, names, paused))
    if as_json:
        print_json(
            [
                {"name": name, "paused": paused, "changed": _was_paused(before, name) != paused}
                for name in names
            ]
        )
        return
    for name in names:
        _tell(name, before.get(name), paused)


async def _switch(store: Store, names: Sequence[str], paused: bool) -> Mapping[str, QueueStats]:
    """Do it, and give the queues as they were."""
    before = {queue.name: queue for queue in await store.queues()}
    for name in names:
        await (store.pause(name) if paused else store.resume(name))
    return before


def _was_paused(before: Mapping[str, QueueStats], name: str) -> bool:
    return name in before and before[name].paused


def _tell(name: str, before: QueueStats | None, paused: bool) -> None:
    done = "Paused" if paused else "Resumed"
    if (before is not None and before.paused) == paused:
        state = "paused already" if paused else "not paused"
        click.echo(f"windlass: The queue {name} was {state}.", err=True)
        return
    click.echo(one_line(f"{done} {name}."))
    if before is None:
        # A name that was mistyped would else go unnoticed for long.
        click.echo(
            f"windlass: The queue {name} has no jobs yet; it is paused from its first one on.",
            err=True,
        )
