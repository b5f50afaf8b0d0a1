"""Moving all jobs of a live app from one store to another, and nothing twice.

The order is what makes it safe to end at any point, by whatever, and to be run again. The
queues are paused on both stores before the first job moves, and the target's are resumed after
the last one has left the source. So a job that is in both can be claimed from neither. Schedules,
keys of the API and whatever else a store may keep one day move between these two points as well.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from ..core.clock import to_ms
from ..core.ids import new_id
from ..core.keymarks import NOBODY
from ..core.model import JobQuery, QueueStats
from ..core.outcome import Lost, decide
from ..core.states import WAITING, State
from ..stores.contract import Store
from .holds import NOTES, Holds
from .transfer import Counts, Left, Transfer
from .turn import Turn

BATCH: Final = 200
RESCUE_BATCH: Final = 100
RESCUE_LEASE: Final = 30.0
LOOK: Final = 0.2
"""Seconds between two looks at what still runs or changes."""

MOVABLE: Final = (
    State.PENDING,
    State.RETRY,
    State.SCHEDULED,
    State.BLOCKED,
    State.DEAD,
    State.COMPLETED,
    State.CANCELLED,
)


CHECKED: Final = (WAITING, frozenset({State.DEAD}))
"""States whose jobs are counted at the end: only these neither run nor expire in a paused queue.
Those that wait are one number, for their time may come."""


CLAIM: Final = 0.25
"""Seconds in which a claim ends. One that began before the target was paused may take a job after
it, which would then be missed among those that wait there."""

replace = msgspec.structs.replace


class Stage(NamedTuple):
    """How far a move has come: so many jobs have moved, of so many; so many still run."""

    moved: int
    total: int
    active: int


class Report(NamedTuple):
    """What a move came to."""

    moved: Counts
    left: list[Left]
    missing: Mapping[str, int]
    """by queue, how many jobs the target was given and does not have: empty, if all is well"""
    target: Counts
    """what the target has in these queues"""


async def count(source: Store) -> int:
    """How many jobs there are to move."""
    return sum(sum(q.counts.values()) for q in await source.queues() if q.name != NOTES)


def _ignore(_: Stage) -> None: ...


async def move(
    source: Store,
    target: Store,
    tell: Callable[[Stage], None] = _ignore,
    nap: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Report:
    """Move every job, and let the target's workers begin. The source stays paused.

    Raises `MoveRefused` if another move has one of the stores. `nap` is for tests.
    """
    async with Turn(source, target) as turn:
        return await _Move(source, target, turn, tell, nap).run()


class _Move:
    """One run. It repeats itself until the source has nothing more to give."""

    def __init__(
        self,
        source: Store,
        target: Store,
        turn: Turn,
        tell: Callable[[Stage], None],
        nap: Callable[[float], Awaitable[None]],
    ) -> None:
        self._source, self._target = source, target
        self._turn, self._tell, self._nap = turn, tell, nap
        self._on_source, self._on_target = Holds(source), Holds(target)
        self._transfer = Transfer(source, target)
        self._name = new_id()
        self._before: dict[str, Mapping[State, int]] = {}
        self._held: frozenset[str] = frozenset()

    async def run(self) -> Report:
        more, proved, left = True, False, list[Left]()
        while more:
            await self._take_schedules()
            await self._take_keys()
            await self._drain()
            moved = self._transfer.moved.total()
            more, left = await self._pass()
            if not more and not proved:
                more, proved = await self._may_have_missed(left), True
            if more and moved == self._transfer.moved.total():
                await self._nap(LOOK)
        report = await self._check(left)
        for queue in await self._on_target.look():
            await self._turn.keep()
            await self._on_target.release(queue)
        return report

    async def _take_schedules(self) -> None:
        """Let the target tick from where the source stopped.

        Paused first, so that the source sees to no tick any more that the target would see to as
        well. Whoever dies in between leaves a schedule that is paused, and that is how it moves.
        """
        schedules = await self._source.schedules()
        names = [schedule.name for schedule in schedules]
        await self._source.pause_schedules(names, True)
        paused = {schedule.name for schedule in schedules if schedule.paused}
        for schedule in await self._source.schedules():
            if schedule.name in names:
                moved = replace(schedule, paused=schedule.name in paused)
                await self._target.put_schedules([moved])
                await self._source.drop_schedules([schedule.name])

    async def _take_keys(self) -> None:
        """Let in at the target who was let in at the source, and as the source had it."""
        keys = await self._source.keys()
        if keys:
            await self._target.put_keys(keys)
            await self._source.drop_keys([key.id for key in keys])
        elif await self._source.had_keys() and not await self._target.had_keys():
            # It is to know that there were some: a server on it must not open itself to everybody.
            await self._target.put_keys([NOBODY])
            await self._target.drop_keys([NOBODY.id])
        if logins := await self._source.ended_logins():
            await self._target.end_logins(logins)

    async def _drain(self) -> None:
        """Wait until nothing runs on the source. What a dead worker left behind is rescued."""
        while True:
            await self._turn.keep()
            queues = await self._hold()
            await self._rescue()
            if not (
                await self._source.find(JobQuery(states=(State.ACTIVE,), limit=1, brief=True))
            ).jobs:
                return
            self._tell(self._stage(queues))
            await self._nap(LOOK)

    async def _hold(self) -> Sequence[QueueStats]:
        """Pause what the source has, on both sides; its queues as they were before."""
        queues = [queue for queue in await self._source.queues() if queue.name != NOTES]
        ours, _ = await self._on_source.look(), await self._on_target.look()
        paused = {queue.name for queue in await self._target.queues() if queue.paused}
        for queue in queues:
            if queue.paused and queue.name not in ours:
                # By people, who are to find it on the target as they left it.
                await self._on_target.leave(queue.name)
                await self._target.pause(queue.name)
            elif any(queue.counts.values()):
                if queue.name not in paused:
                    await self._on_target.take(queue.name)
                if not queue.paused:
                    await self._on_source.take(queue.name)
        self._held = frozenset(queue.name for queue in queues if any(queue.counts.values()))
        new = self._held - self._before.keys()
        if new:
            counts = await self._target_counts()
            if any(WAITING & counts.get(name, {}).keys() for name in new):
                await self._nap(CLAIM)
                counts = await self._target_counts()
            self._before.update({name: counts.get(name, {}) for name in new})
        return queues

    async def _target_counts(self) -> dict[str, Mapping[State, int]]:
        return {queue.name: queue.counts for queue in await self._target.queues()}

    async def _rescue(self) -> None:
        """As the rescuer of a worker does."""
        while jobs := await self._source.rescue(RESCUE_BATCH, to_ms(RESCUE_LEASE), self._name):
            await self._source.finish([decide(job, Lost()) for job in jobs])

    async def _pass(self) -> tuple[bool, list[Left]]:
        """Go through all jobs once; whether there may be more, and those that have to stay."""
        more, left, cursor = False, list[Left](), None
        stage = self._stage(await self._source.queues())
        while True:
            self._tell(stage._replace(moved=self._transfer.moved.total()))
            await self._turn.keep()
            query = JobQuery(states=MOVABLE, limit=BATCH, cursor=cursor)
            page = await self._source.find(query)
            jobs = [job for job in page.jobs if job.queue != NOTES]
            ready = [job for job in jobs if job.queue in self._held]
            stay = await self._transfer.carry(ready)
            more = more or len(stay) < len(jobs)
            left += stay
            if page.cursor is None:
                return more, left
            cursor = page.cursor

    async def _may_have_missed(self, left: Sequence[Left]) -> bool:
        """Whether the source counts more jobs than have to stay, now that all of it is there.

        A part of it may have been down during the last look, and a listing leaves it out.
        """
        await self._source.get([self._name])
        return await count(self._source) > len(left)

    async def _check(self, left: list[Left]) -> Report:
        """Compare what the target was given with what it says that it has."""
        has: Counts = Counter()
        for queue in await self._target.queues():
            if queue.name in self._before:
                has.update({(queue.name, state): n for state, n in queue.counts.items()})
        missing = Counter[str]()
        for name, before in self._before.items():
            for states in CHECKED:
                given = sum(
                    before.get(each, 0) + self._transfer.added[name, each] for each in states
                )
                missing[name] += max(0, given - sum(has[name, each] for each in states))
        return Report(self._transfer.moved, left, +missing, has)

    def _stage(self, queues: Sequence[QueueStats]) -> Stage:
        counts = [queue.counts for queue in queues if queue.name != NOTES]
        active = sum(each.get(State.ACTIVE, 0) for each in counts)
        moved = self._transfer.moved.total()
        return Stage(moved, moved + sum(sum(each.values()) for each in counts), active)
