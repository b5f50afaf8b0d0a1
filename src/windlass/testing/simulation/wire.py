"""A node's way to the store: it takes time, loses requests and answers, and dies with its node."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, NamedTuple

import msgspec

from ...core.model import Transition
from ...errors import StoreUnavailable
from ...stores.contract import Store
from ..chaos.record import Event, Finished, Finishing

LONGEST_WAY: Final = 0.02


class Trap(NamedTuple):
    """What befalls a node at one of its next steps: right before a call, or right after it."""

    call: str
    after: bool
    spring: Callable[[], None]
    number: int = 1
    """at which of these calls from now on"""


class Weather(msgspec.Struct):
    """How bad the way to the store is just now; the same for all nodes."""

    down: bool = False
    lossy: float = 0.0
    """the part of calls whose request or answer is lost"""
    slow: float = LONGEST_WAY
    """the longest that one way takes, in seconds"""


class Wire:
    """Stands for the store in one node, and writes down what it finishes."""

    def __init__(
        self, store: Store, node: str, chance: Random, weather: Weather, events: list[Event]
    ) -> None:
        self._store = store
        self._node = node
        self._chance = chance
        self._weather = weather
        self._events = events
        self._going = asyncio.Event()
        self._going.set()
        self.calls = 0
        self.is_cut = False
        self.trap: Trap | None = None

    def cut(self) -> None:
        """From now on nothing of this node reaches the store, and nothing comes back."""
        self.is_cut = True
        self._going.set()

    @property
    def is_halted(self) -> bool:
        return not self._going.is_set()

    def halt(self) -> None:
        """Nothing goes on in this node until it is told to go on."""
        self._going.clear()

    def go_on(self) -> None:
        self._going.set()

    async def step(self) -> None:
        """Between any two steps of a node it may have been halted or killed."""
        await self._going.wait()
        if self.is_cut:
            raise asyncio.CancelledError

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not callable(method):
            return method

        async def call(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            self._pass(name, after=False)
            await self._travel(name)
            moves = args[0] if name == "finish" else ()
            self._note_finishing(moves)
            answer = await method(*args, **kwargs)
            held = answer if name == "finish" else frozenset()
            self._pass(name, after=True)
            await self._travel(name)
            self._note_finished(moves, held)
            return answer

        return call

    def _pass(self, name: str, *, after: bool) -> None:
        trap = self.trap
        if trap is None or trap.call != name or trap.after is not after:
            return
        if trap.number > 1:
            self.trap = trap._replace(number=trap.number - 1)
        else:
            self.trap = None
            trap.spring()

    async def _travel(self, name: str) -> None:
        await self.step()
        await asyncio.sleep(self._chance.uniform(0, self._weather.slow))
        await self.step()
        if self._weather.down or self._chance.random() < self._weather.lossy:
            raise StoreUnavailable(f"{name}: the engine did not answer.")

    def _note_finishing(self, moves: Sequence[Transition]) -> None:
        at = asyncio.get_running_loop().time()
        self._events += [
            Finishing(at, move.id, move.fence, move.state, self._node) for move in moves
        ]

    def _note_finished(self, moves: Sequence[Transition], held: frozenset[str]) -> None:
        at = asyncio.get_running_loop().time()
        self._events += [
            Finished(at, move.id, move.fence, move.state, self._node, move.id in held)
            for move in moves
        ]
