"""What a simulation is to do, drawn from its seed."""

from __future__ import annotations

from random import Random
from typing import Final, Literal

import msgspec

Behaviour = Literal["works", "fails", "fails once", "hangs", "kills", "steps"]

BEHAVIOURS: Final[tuple[Behaviour, ...]] = (
    "works",
    "works",
    "works",
    "fails once",
    "fails",
    "hangs",
    "kills",
)
QUEUES: Final = ("alpha", "beta")
KEYS: Final = ("red", "green")


class Order(msgspec.Struct, frozen=True):
    """A job that a producer is to enqueue."""

    id: str
    queue: str
    behaviour: Behaviour
    seconds: float
    """how long its handler takes"""
    after: float
    """how long the producer waits before it"""
    priority: int = 50
    delay: float = 0.0
    unique: str = ""
    sequence: str = ""
    is_limited: bool = False
    parents: tuple[str, ...] = ()
    runs_anyway: bool = False
    again: bool = False
    """whether the producer enqueues it twice, as one that got no answer would"""


class Snare(msgspec.Struct, frozen=True):
    """The one thing that goes wrong: at which boundary of which call, and what."""

    call: str
    after: bool
    number: int
    """at which of these calls, from 1"""
    kills: bool
    """it is killed there; otherwise it halts, for longer than its lease"""


class Plan(msgspec.Struct, frozen=True):
    """All that a seed decides before the first step."""

    workers: int
    concurrency: int
    lease: float
    limit: int
    orders: tuple[Order, ...]
    seconds: float
    """how long things go wrong"""
    trouble: float
    """how long it is, on average, from one fault to the next"""
    snare: Snare | None = None
    """what is done instead, once, to whoever comes there first"""
    steps: int | None = None
    """so many things go wrong, however long that takes; None for as long as `seconds`"""


def plan(seed: int, steps: int | None = None) -> Plan:
    """With `steps` there are so many jobs, and so many things go wrong."""
    chance = Random(seed)
    drawn = chance.randint(4, 24)
    number = drawn if steps is None else steps
    orders: list[Order] = []
    for n in range(number):
        orders.append(_order(chance, f"job-{n}", orders))
    return Plan(
        workers=chance.choice((1, 2, 2, 3)),
        concurrency=chance.randint(1, 4),
        lease=chance.choice((2.0, 5.0, 30.0)),
        limit=chance.randint(1, 2),
        orders=tuple(orders),
        seconds=chance.uniform(20, 90),
        trouble=chance.choice((1.0, 4.0, 15.0)),
        steps=steps,
    )


def _order(chance: Random, id: str, before: list[Order]) -> Order:
    kind = chance.choice(("plain", "plain", "unique", "sequence", "limited", "dependent"))
    parents: tuple[str, ...] = ()
    if kind == "dependent" and before:
        parents = tuple({chance.choice(before).id: None for _ in range(chance.randint(1, 2))})
    return Order(
        id,
        queue="alpha" if kind == "sequence" else chance.choice(QUEUES),
        behaviour=chance.choice(BEHAVIOURS),
        seconds=chance.choice((0.0, 0.01, 0.5, 3.0, 12.0)),
        after=chance.choice((0.0, 0.0, 0.1, 2.0, 6.0)),
        # What is to keep its order may neither overtake nor come later.
        priority=50 if kind == "sequence" else chance.choice((25, 50, 75)),
        delay=0.0 if kind == "sequence" else chance.choice((0.0, 0.0, 0.0, 5.0)),
        unique=chance.choice(KEYS) if kind == "unique" else "",
        sequence=chance.choice(KEYS) if kind == "sequence" else "",
        is_limited=kind == "limited",
        parents=parents,
        runs_anyway=chance.random() < 0.5,
        again=chance.random() < 0.2,
    )
