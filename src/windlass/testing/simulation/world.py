"""The nodes of a simulation, what is done to them, and the quiet afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Final

import msgspec

from ...config import WorkerSettings
from ...core.model import Job, JobQuery
from ...core.states import FINISHED
from ...stores.contract import Store
from ..chaos.record import Event, Fault, Outcome
from .node import Node
from .plan import QUEUES, Plan
from .scenario import EVERY, SCHEDULE, make_app, produce
from .wire import LONGEST_WAY, Trap, Weather, Wire

PATIENCE: Final = 1_800.0
"""All jobs must have ended so long after the last fault, in seconds of the simulation."""

LOOK: Final = 5.0

STEPS: Final = ("finish", "finish", "claim", "renew", "rescue", "tick", "elect", "insert")
"""The calls that a node may not survive by chance; a snare can be at any."""

PRUNES: Final = 5.0
QUIET_TURNS: Final = 22
"""Seconds of a run in which one thing goes wrong, before workers are stopped in good order."""


class World:
    """Workers on one store, and a chance that means them harm."""

    def __init__(self, plan: Plan, store: Store) -> None:
        self._plan = plan
        self._store = store
        self._weather = Weather()
        self.events: list[Event] = []
        self.wires: list[Wire] = []
        self._app = make_app(self.events)
        self._nodes: list[Node] = []

    async def run(self, seed: int) -> Outcome:
        """Let things go wrong for as long as planned, mend them, and wait until all is done."""
        self._chance = Random(seed)
        await self._store.open()
        for _ in range(self._plan.workers):
            self._start()
        producing = asyncio.ensure_future(
            produce(self._app, self._plan, self._wire("producer"), self.events)
        )
        try:
            await self._trouble()
            self._mend()
            await producing
            await self._quiet()
            await self._store.drop_schedules([SCHEDULE])
            await self._quiet()
            return await self._outcome()
        finally:
            await self._end(producing)

    async def _end(self, producing: asyncio.Future[None]) -> None:
        """Leave nothing behind that waits."""
        producing.cancel()
        for node in self._nodes:
            node.kill()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*rest, return_exceptions=True)

    def _wire(self, name: str) -> Wire:
        chance = Random(self._chance.random())
        wire = Wire(self._store, name, chance, self._weather, self.events)
        self.wires.append(wire)
        return wire

    def _start(self) -> None:
        name = f"node-{len(self.wires)}"
        node = Node(name, self._wire(name))
        self._nodes.append(node)
        plan = self._plan
        if plan.snare is not None and not self._is_sprung:
            snare = plan.snare
            spring = partial(self._spring, node)
            node.wire.trap = Trap(snare.call, snare.after, spring, snare.number)
        settings = WorkerSettings(
            queues=QUEUES,
            concurrency=plan.concurrency,
            lease=plan.lease,
            rescue_interval=2.0,
            shutdown_timeout=5.0,
            prune_interval=PRUNES if plan.snare else 30.0,
        )
        node.run(node.work(self._app, settings))

    _is_sprung = False

    def _spring(self, node: Node) -> None:
        """Once in a run, whoever else comes to the same place later."""
        if self._plan.snare is None or self._is_sprung:
            return
        self._is_sprung = True
        if self._plan.snare.kills:
            self._kill(node)
        else:
            self._halt(node, 2 * self._plan.lease)

    async def _one_trouble(self) -> None:
        """Wait for the snare, then stop each node in good order: it may be on the way out."""
        for _ in range(QUIET_TURNS):
            await asyncio.sleep(1.0)
            self._replace()
        for node in list(self._nodes):
            if not node.wire.is_halted:
                await self._stop(node)
                self._replace()

    async def _trouble(self) -> None:
        if self._plan.snare is not None:
            await self._one_trouble()
            return
        loop = asyncio.get_running_loop()
        until = loop.time() + self._plan.seconds
        steps = 0
        while loop.time() < until if self._plan.steps is None else steps < self._plan.steps:
            await asyncio.sleep(self._chance.expovariate(1 / self._plan.trouble))
            await self._harm()
            self._replace()
            steps += 1

    async def _harm(self) -> None:
        chance, weather = self._chance, self._weather
        node = chance.choice(self._nodes)
        match chance.choice(("kill", "halt", "trap", "trap", "stop", "down", "lossy", "slow")):
            case "kill":
                self._kill(node)
            case "stop":
                self._note("end", node.name)
                await self._stop(node)
            case "halt":
                self._halt(node)
            case "trap":
                spring = partial(chance.choice((self._halt, self._kill)), node)
                node.wire.trap = Trap(chance.choice(STEPS), chance.random() < 0.5, spring)
            case "down":
                self._note("restart")
                weather.down = True
                await asyncio.sleep(chance.choice((0.1, 3.0, 40.0)))
                weather.down = False
            case "lossy":
                self._note("cut")
                weather.lossy = chance.choice((0.05, 0.3))
                await asyncio.sleep(chance.uniform(1, 10))
                weather.lossy = 0.0
            case "slow":
                self._note("slow")
                weather.slow = chance.choice((0.5, 3.0))
                await asyncio.sleep(chance.uniform(1, 10))
                weather.slow = LONGEST_WAY

    def _kill(self, node: Node) -> None:
        self._note("kill", node.name)
        node.kill()

    def _halt(self, node: Node, seconds: float = 0.0) -> None:
        """Longer than its lease, or not: a zombie, or one that was only slow."""
        if node.wire.is_halted:
            return
        self._note("stop", node.name)
        node.wire.halt()
        chance = self._chance
        if not seconds:
            seconds = self._plan.lease * chance.choice((0.3, 1.5, 3.0)) + chance.uniform(0, 8)
        asyncio.get_running_loop().call_later(seconds, node.wire.go_on)

    async def _stop(self, node: Node) -> None:
        """As a deploy does: SIGTERM, and SIGKILL for one that takes too long."""
        if not await node.stop(patience=30.0):
            self._note("kill", node.name)
        node.kill()

    def _note(self, kind: str, node: str = "") -> None:
        at = asyncio.get_running_loop().time()
        self.events.append(
            msgspec.convert({"type": "fault", "at": at, "kind": kind, "node": node}, Fault)
        )

    def _replace(self) -> None:
        """Start another in the place of each that has died, by whatever hand."""
        self._nodes = [node for node in self._nodes if node.lives]
        while len(self._nodes) < self._plan.workers:
            self._start()

    def _mend(self) -> None:
        for node in self._nodes:
            node.wire.go_on()
        self._weather.down, self._weather.lossy, self._weather.slow = False, 0.0, LONGEST_WAY
        self._replace()

    async def _quiet(self) -> None:
        """Wait until no job is left that could still do something, or for too long."""
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE
        while loop.time() < until:
            if all(job.state in FINISHED for job in await self._jobs()):
                return
            await asyncio.sleep(LOOK)
            self._replace()

    async def _jobs(self) -> Sequence[Job]:
        jobs: list[Job] = []
        query = JobQuery(limit=1_000)
        while True:
            page = await self._store.find(query)
            jobs += page.jobs
            if page.cursor is None:
                return jobs
            query = msgspec.structs.replace(query, cursor=page.cursor)

    async def _outcome(self) -> Outcome:
        return Outcome(
            await self._jobs(),
            await self._store.queues(),
            dict.fromkeys(QUEUES, self._plan.limit),
            {SCHEDULE: EVERY},
        )
