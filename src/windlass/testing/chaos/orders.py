"""What a producer enqueues: mostly plain jobs, and some of every other kind."""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

from ...app import Windlass
from ...core.limit import Limit
from ...core.model import NewJob
from .plan import LIMIT, QUEUES
from .record import Asked

KINDS: Final = {
    "plain": 830,
    "fails once": 20,
    "fails": 4,
    "hangs": 1,
    "slow": 20,
    "steps": 20,
    "delay": 20,
    "priority": 25,
    "unique": 15,
    "sequence": 10,
    "limited": 15,
    "dependent": 20,
}
"""Of a thousand jobs, so many are of each kind."""

BEHAVIOURS: Final = ("fails", "fails once", "hangs", "steps")
"""The kinds whose handlers do something else than to work."""

KEYS: Final = 4


class Order(NamedTuple):
    """A job, and what is to be written down when it is asked for."""

    job: NewJob
    asked: Asked


class Orders:
    """The jobs of one producer. Keys and sequences are its own: only it knows their order."""

    def __init__(self, app: Windlass, node: str, seed: int) -> None:
        self._app = app
        self._node = node
        self._chance = Random(seed)
        self._number = 0
        self._plain: list[str] = []

    def draw(self, number: int, at: float) -> list[Order]:
        kinds = self._chance.choices(list(KINDS), list(KINDS.values()), k=number)
        return [self._order(kind, at) for kind in kinds]

    def _order(self, kind: str, at: float) -> Order:
        chance = self._chance
        self._number += 1
        id = f"{self._node}-{self._number}"
        key = f"{self._node}-{chance.randrange(KEYS)}"
        # A sequence is of one queue.
        queue = QUEUES[0] if kind == "sequence" else chance.choice(QUEUES)
        options: dict[str, object] = {"id": id, "queue": queue}
        parents: tuple[str, ...] = ()
        runs_anyway = False
        match kind:
            case "fails":
                options["max_retries"] = 2
            case "delay":
                options["delay"] = chance.uniform(0.1, 3.0)
            case "priority":
                options["priority"] = chance.randrange(101)
            case "unique":
                options["unique"] = key
            case "sequence":
                options["sequence"] = key
            case "limited":
                options["limit"] = Limit(concurrency=LIMIT)
            case "dependent" if self._plain:
                parents = tuple({chance.choice(self._plain): None for _ in range(2)})
                runs_anyway = chance.random() < 0.5
                options["depends_on"] = list(parents)
                options["orphaned"] = "run" if runs_anyway else "cancel"
            case _:
                pass
        if kind in ("plain", "fails"):
            self._plain = [*self._plain[-20:], id]
        behaviour = kind if kind in BEHAVIOURS else "works"
        seconds = {"slow": chance.uniform(0.0, 1.0), "limited": 0.01}.get(kind, 0.0)
        job = self._app.tasks["play"].using(**options).call(behaviour, seconds).job  # type: ignore[arg-type]
        return Order(
            job,
            Asked(
                at,
                id,
                queue,
                key if kind == "unique" else "",
                parents,
                key if kind == "sequence" else "",
                queue if kind == "limited" else "",
                runs_anyway,
            ),
        )
