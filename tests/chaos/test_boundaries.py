"""A process that dies or halts between any two calls of the store, each place once."""

import ast
from pathlib import Path
from random import Random

import pytest

import windlass
from windlass.stores.observed import CALLS
from windlass.testing.chaos.record import Fault
from windlass.testing.chaos.trap import CALLS_OF, ENQUEUING, OFTEN, UPKEEP, WORKING, draw
from windlass.testing.simulation.plan import Order, Plan, Snare
from windlass.testing.simulation.run import simulate

ELSEWHERE = {
    "queues": "workers of all queues there are",
    "get": "workflows",
    "reschedule": "workflows",
    "signal": "jobs that wait for a signal",
    "read_journal": "a history",
    "trim_journal": "a history",
    "cancel": "steps of workflows whose keys come from their results",
    "delete": "steps of workflows whose keys come from their results",
    "lanes": "a worker that ends when its queues are empty",
    "unblock": "a worker that ends when its queues are empty",
    "abandon": "a supervisor, of a process that it knows is gone",
}
"""Calls of a worker or of its upkeep only for the sake of what no chaos run has."""

ORDERS = (
    Order("plain", "alpha", "works", 0.0, 0.0),
    Order("slow", "beta", "works", 3.0, 0.0),
    Order("steps", "alpha", "steps", 0.5, 0.0),
    Order("fails once", "beta", "fails once", 0.0, 0.0),
    Order("fails", "alpha", "fails", 0.0, 0.0),
    Order("limited", "alpha", "works", 0.5, 0.0, is_limited=True),
    Order("first", "alpha", "works", 0.5, 0.0, sequence="red"),
    Order("second", "alpha", "works", 0.0, 0.0, sequence="red"),
    Order("unique", "beta", "works", 0.5, 0.0, unique="red"),
    Order("parent", "beta", "works", 0.5, 0.0),
    Order("child", "alpha", "works", 0.0, 0.0, parents=("parent",)),
    Order("kills", "beta", "kills", 0.0, 2.0),
)


def plan(snare: Snare) -> Plan:
    return Plan(
        workers=2,
        concurrency=3,
        lease=2.0,
        limit=1,
        orders=ORDERS,
        seconds=12.0,
        trouble=1.0,
        snare=snare,
    )


@pytest.mark.parametrize("call", CALLS_OF["worker"])
def test_nothing_is_lost_whichever_step_is_the_last(call: str) -> None:
    for after in (False, True):
        for number in (1, 2) if call in OFTEN else (1,):
            for kills in (True, False):
                snare = Snare(call, after, number, kills)
                report = simulate(number, given=plan(snare))
                assert not report.breaches, f"{snare}: {report.breaches[0]}"
                kinds = [event.kind for event in report.events if isinstance(event, Fault)]
                assert ("kill" if kills else "stop") in kinds, f"{snare} was never reached"


@pytest.mark.parametrize(
    ("folder", "known"), [("worker", WORKING + ENQUEUING), ("scheduler", UPKEEP)]
)
def test_every_call_of_the_store_is_a_place_to_die(folder: str, known: tuple[str, ...]) -> None:
    made = set()
    for path in Path(windlass.__file__).with_name(folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and _is_store(node.value):
                made.add(node.attr)
    made &= {*CALLS, "wait"}
    assert made >= {*known} - {*ENQUEUING}, "a place to die that nobody comes to"
    assert made <= {*known, *ELSEWHERE}, "a call that no trap is set at"


def _is_store(value: ast.expr) -> bool:
    name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
    return name in ("store", "_store")


def test_each_place_to_die_is_drawn() -> None:
    chance = Random(1)
    for role, calls in CALLS_OF.items():
        drawn = {draw(chance, calls).split(":")[0] for _ in range(1_000)}
        assert drawn == {*calls}, role
        assert drawn <= {*CALLS, "wait"}, role
    assert {draw(chance, ENQUEUING).split(":", 2)[2] for _ in range(100)} == {
        f"{moment}:{what}" for moment in ("before", "after") for what in ("kill", "stop")
    }
