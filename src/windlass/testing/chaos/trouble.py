"""What is done to processes and to the store, by a seeded chance, for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from time import monotonic
from typing import Final, NamedTuple

from .crew import Crew, Member
from .plan import ChaosPlan
from .record import Harm

KILLS: Final = 0.6
"""The part of faults that kill; the others halt a process, or ask it to end."""


LONGEST_PEACE: Final = 8.0
"""How long a store is left alone at the most."""


class StoreHarm(NamedTuple):
    """Something that befalls the store; when it is done, the store works again."""

    kind: Harm
    do: Callable[[], Awaitable[None]]


class Trouble:
    """Faults, one after the other. Whoever has died is replaced."""

    def __init__(
        self, crew: Crew, plan: ChaosPlan, chance: Random, harms: Sequence[StoreHarm]
    ) -> None:
        self._crew = crew
        self._plan = plan
        self._chance = chance
        self._harms = harms

    async def run(self) -> None:
        store = asyncio.create_task(self._harm_the_store())
        until = monotonic() + self._plan.seconds
        rate = self._plan.kills_per_second / KILLS
        try:
            while monotonic() < until:
                self.tend()
                pause = self._chance.expovariate(rate) if rate else self._plan.seconds
                await asyncio.sleep(min(pause, until - monotonic(), 2.0 / max(rate, 0.01)))
                if rate and (member := self._crew.pick()) is not None:
                    self._harm(member)
        finally:
            # One that is under way is brought to its end, or the store would stay down.
            self._over = True
            await store

    _over = False

    def tend(self) -> None:
        """Replace those who have died, and let those wake up who have halted by themselves."""
        self._crew.fill()
        for halted in self._crew.halted():
            self._wake_after(halted)

    def _harm(self, member: Member) -> None:
        luck = self._chance.random()
        if luck < KILLS:
            self._crew.kill(member)
        elif luck < 0.85:
            self._crew.stop(member)
            self._wake_after(member)
        else:
            self._crew.end(member)

    def _wake_after(self, member: Member) -> None:
        """Sooner or later than its lease ends: one that was slow, or a zombie."""
        seconds = self._plan.lease * self._chance.choice((0.3, 1.5, 2.5))
        asyncio.get_running_loop().call_later(seconds, self._wake, member)

    def _wake(self, member: Member) -> None:
        if member.is_stopped and member.lives:
            self._crew.wake(member)

    async def _harm_the_store(self) -> None:
        """Evenly over the time, all in turn, in an order that chance has chosen; then again."""
        # Less, for a harm takes its time as well.
        pause = min(0.7 * self._plan.seconds / (len(self._harms) + 1), LONGEST_PEACE)
        while self._harms:
            for harm in self._chance.sample(self._harms, len(self._harms)):
                await asyncio.sleep(pause * self._chance.uniform(0.5, 1.0))
                if self._over:
                    return
                self._crew.note(harm.kind)
                await harm.do()
