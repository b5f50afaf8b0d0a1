"""One simulation: from a seed to what was found."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from ...stores.contract import Store
from ...stores.memory import MemoryStore
from ..chaos.record import Event, Fault, Outcome
from ..chaos.rules import Breach, check
from .chance import BEGIN, determined
from .loop import VirtualLoop
from .node import adopting
from .plan import Plan, plan
from .world import World


class Report(msgspec.Struct, frozen=True):
    """What one seed came to."""

    seed: int
    events: Sequence[Event]
    breaches: Sequence[Breach]
    calls: int
    faults: int
    seconds: float
    """of the simulation's own time"""
    outcome: Outcome


def simulate(
    seed: int, make_store: Callable[..., Store] = MemoryStore, given: Plan | None = None
) -> Report:
    """Run one seed, or a plan that is given. The same gives the same events, whenever and wherever
    it is run."""
    loop = VirtualLoop()
    loop.set_task_factory(adopting)  # type: ignore[arg-type]
    try:
        with determined(seed, loop), silenced():
            world = World(given or plan(seed), make_store(clock=lambda: _ms(loop)))
            outcome = loop.run_until_complete(world.run(seed))
    finally:
        loop.close()
    return Report(
        seed,
        world.events,
        check(world.events, outcome),
        sum(wire.calls for wire in world.wires),
        sum(isinstance(event, Fault) for event in world.events),
        loop.time(),
        outcome,
    )


@contextmanager
def silenced() -> Iterator[None]:
    """What goes wrong here goes wrong on purpose, and would fill the log."""
    log = logging.getLogger("windlass")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


def _ms(loop: VirtualLoop) -> int:
    return int((BEGIN + loop.time()) * 1000)
