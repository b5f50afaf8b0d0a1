"""The app of the simulation: handlers that write down what they do, and a producer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from ...app import Windlass
from ...core.context import Context
from ...core.limit import Limit
from ...core.model import NewJob, Receipt
from ...core.retry import Fixed
from ...errors import StoreUnavailable, UnknownJob
from ..chaos.record import Accepted, Asked, Effect, Event, Started
from .node import Node, present
from .plan import Order, Plan
from .wire import Wire

FOR_EVER: Final = 10_000 * 86_400
EVERY: Final = 20
SCHEDULE: Final = "hand"
RETRIES: Final = 8


class Broken(Exception):
    """What a handler raises that fails."""


def make_app(events: list[Event]) -> Windlass:
    app = Windlass("memory://")

    @app.task(
        name="play",
        context=True,
        backoff=Fixed(1.0),
        max_retries=RETRIES,
        timeout=20.0,
        keep=FOR_EVER,
    )
    async def play(context: Context, behaviour: str, seconds: float) -> None:
        node = _node()
        job = context.job
        events.append(Started(_now(), job.id, job.fence, job.attempt, node.name))
        if behaviour == "steps":
            context.progress(50)
            await context.acheckpoint(job.attempt)
        await asyncio.sleep(seconds)
        await node.wire.step()
        if behaviour == "kills" and job.lost < 2:
            node.kill()
            await node.wire.step()
        if behaviour == "hangs" and job.attempt == 1:
            await asyncio.sleep(3_600)
        if behaviour == "fails" or (behaviour == "fails once" and job.attempt == 1):
            raise Broken("as it was asked to")
        events.append(Effect(_now(), job.id, job.fence, node.name))

    @app.cron(
        f"@every {EVERY}s",
        name=SCHEDULE,
        missed="all",
        queue="beta",
        keep=FOR_EVER,
        backoff=Fixed(1.0),
    )
    async def hand() -> None:
        await _node().wire.step()

    return app


def _node() -> Node:
    node = present.get()
    assert node is not None
    return node


def _now() -> float:
    return asyncio.get_running_loop().time()


async def produce(app: Windlass, plan: Plan, wire: Wire, events: list[Event]) -> None:
    """Enqueue what the plan has, each until the store has taken it."""
    for order in plan.orders:
        await asyncio.sleep(order.after)
        new = _new_job(app, plan, order)
        events.append(
            Asked(
                _now(),
                new.id,
                order.queue,
                order.unique,
                order.parents,
                order.sequence,
                order.queue if order.is_limited else "",
                order.runs_anyway,
            )
        )
        receipt = await _insisting(wire, new)
        if receipt is not None:
            # By its id it was there only because of a call before, whose answer was lost.
            own = receipt.id == new.id
            events.append(Accepted(_now(), new.id, not own))
        if order.again:
            await _insisting(wire, new)


async def _insisting(wire: Wire, new: NewJob) -> Receipt | None:
    while True:
        try:
            receipts: Sequence[Receipt] = await wire.insert([new])
            return receipts[0]
        except UnknownJob:
            # Its parent was a duplicate, and another job stands for it.
            return None
        except StoreUnavailable:
            await asyncio.sleep(0.2)


def _new_job(app: Windlass, plan: Plan, order: Order) -> NewJob:
    options: dict[str, Any] = {"unique": order.unique} if order.unique else {}
    if order.sequence:
        options["sequence"] = order.sequence
    if order.is_limited:
        options["limit"] = Limit(concurrency=plan.limit)
    task = app.tasks["play"].using(
        id=order.id,
        queue=order.queue,
        priority=order.priority,
        delay=order.delay,
        depends_on=list(order.parents),
        orphaned="run" if order.runs_anyway else "cancel",
        **options,
    )
    return task.call(order.behaviour, order.seconds).job
