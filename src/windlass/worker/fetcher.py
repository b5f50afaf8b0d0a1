"""Claims jobs: how many, when, and from which queues.

Claims what can start now and, while jobs are quick, a little ahead, so that the store
works on the next batch while this one runs. A worker whose jobs are slow claims nothing
ahead: what it cannot start soon, another worker can. Whose turn it is among the queues is
decided in `core/rotation.py`; which of them to ask while there are slots for jobs of one kind
only, in `shares`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Final

from ..config import WorkerSettings
from ..core.clock import to_ms
from ..core.model import Job
from ..core.rotation import Rotation, parse_queues
from ..core.states import WAITING
from ..errors import StoreError
from ..service import Service
from ..stores.contract import CLAIM_BYTES, Store
from .gathering import Gathering, gathered
from .hand import Hand
from .pool import Pool
from .runner import Runner
from .shares import Ask, Shares

LONGEST_WAIT: Final = 5.0
"""An idle worker looks at the store this often even if nothing woke it."""

HELD_BYTES: Final = 2 * CLAIM_BYTES
"""The most bytes of payload in hand, but for one job: handlers have as much again in arguments."""

NOTHING: Final = frozenset[str]()

NEWS: Final = 1.0
"""How often a busy worker that serves every queue looks for new ones, in seconds."""


def room(pool: Pool, taken: int) -> int:
    """How many jobs to claim for these slots now, if so many are taken."""
    extra = pool.ahead
    free = pool.size + extra - taken
    # Every slot is busy while half of the extra is left; what is claimed together
    # is cheaper, and will be finished together.
    return free if free > extra // 2 else 0


class Fetcher(Service):
    """Keeps the worker's hand full."""

    def __init__(
        self,
        store: Store,
        settings: WorkerSettings,
        worker: str,
        hand: Hand,
        runner: Runner,
    ) -> None:
        super().__init__()
        self._store = store
        queues = parse_queues(settings.queues, strict=settings.strict)
        self._rotation = Rotation(queues, strict=settings.strict)
        self._met_at = float("-inf")
        self._lease = to_ms(settings.lease)
        self._worker = worker
        self._hand = hand
        self._runner = runner
        self._waiting = runner.waiting
        self._shares = Shares()
        self._held: dict[str, float] = {}
        """queues whose first job found no slot of its kind, and until when not to ask them"""
        self._unanswered = NOTHING
        """queues of a claim that failed: it may have taken their last jobs, and the next one gives
        them"""
        self._news: asyncio.Task[None] | None = None
        self._allowed = asyncio.Event()
        self._allowed.set()
        self.found_nothing = False
        """whether the last claim brought nothing, and nothing has called for another"""

    def serves(self, queue: str) -> bool:
        """Whether it claims from a queue of this name."""
        return self._rotation.is_open or queue in self._rotation.names

    @property
    def quiet(self) -> bool:
        """Whether it claims nothing, until it is told otherwise."""
        return not self._allowed.is_set()

    @quiet.setter
    def quiet(self, quiet: bool) -> None:
        if quiet:
            self._allowed.clear()
        else:
            self._allowed.set()

    async def run(self) -> None:
        try:
            while not self.stopping:
                await self._allowed.wait()
                if self._runner.is_isolating:
                    await self._hand.changed()
                else:
                    await self._turn()
        finally:
            if self._news is not None:
                self._news.cancel()
                self._news = None

    async def _turn(self) -> None:
        """Claim what there is room for, or wait until that may have changed."""
        if self._hand.bytes >= HELD_BYTES:
            await self._hand.changed()
            return
        self._waiting.kinds.look()
        awaiting, blocking = self._rooms()
        if self._is_mixed:
            await self._turn_for_both(awaiting, blocking)
        elif not (room := awaiting + blocking):
            await (self._changed() if self._waiting.kinds.some_block else self._hand.changed())
        else:
            await self._meet()
            if not await self._claim(Ask(self._rotation.caps(room), room)):
                await self._wait()
                self._met_at = float("-inf")

    @property
    def _is_mixed(self) -> bool:
        return self._waiting.kinds.some_block and self._waiting.kinds.some_await

    def _rooms(self) -> tuple[int, int]:
        """How many async and how many blocking jobs to claim, of the kinds that there are."""
        kinds, pools, hand = self._waiting.kinds, self._waiting, self._hand
        if not kinds.some_block:
            return room(pools.awaiting, len(hand)), 0
        blocking = 0
        if not (pools.blocking.is_shut or self._runner.is_out_of_threads):
            blocking = room(pools.blocking, hand.blocking)
        awaiting = room(pools.awaiting, len(hand) - hand.blocking)
        # A worker without async tasks has jobs of Windlass itself on its loop, now and then.
        return (awaiting, blocking) if kinds.some_await else (0, min(awaiting, blocking))

    async def _turn_for_both(self, awaiting: int, blocking: int) -> None:
        """The same where there are two kinds of slots, of which one may be taken by itself."""
        await self._meet()
        now = time.monotonic()
        asks = self._shares.asks(self._rotation, awaiting, blocking)
        if awaiting and blocking:
            self._held.clear()
        elif awaiting or blocking:
            full = self._waiting.awaiting if blocking else self._waiting.blocking
            if full.seconds_to_stall() <= 0:
                self._held = {queue: till for queue, till in self._held.items() if till > now}
                asks += self._shares.probe(self._rotation, self._held, blocks=not blocking)
        asked = {queue for ask in asks for queue in ask.caps}
        brought = [await self._claim(ask) for ask in asks]
        if any(brought):
            return
        if asked.issuperset(self._rotation.queues):
            await self._wait()
        else:
            await self._changed(news=bool(asks))

    async def _wait(self) -> None:
        """Wait for news from the store."""
        self.found_nothing = True
        try:
            await self._store.wait(self._rotation.names, LONGEST_WAIT)
        finally:
            self.found_nothing = False

    async def _changed(self, *, news: bool = False) -> None:
        """Wait until a slot is free, or there is news from the store."""
        pools = (self._waiting.awaiting, self._waiting.blocking)
        stalls = [left for pool in pools if (left := pool.seconds_to_stall()) > 0]
        seconds = min([LONGEST_WAIT, *stalls])
        free = asyncio.ensure_future(self._hand.changed())
        waits = {free}
        if news:
            # Not cut off each time a slot is free: it may be a question to a server.
            if self._news is None:
                wait = self._store.wait(self._rotation.names, LONGEST_WAIT)
                self._news = asyncio.ensure_future(wait)
            waits.add(self._news)
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            free.cancel()
        if self._news is not None and self._news.done():
            done, self._news = self._news, None
            self._met_at = float("-inf")
            done.result()

    async def _meet(self) -> None:
        """Learn which queues there are, where that is not said."""
        rotation = self._rotation
        if rotation.is_open and time.monotonic() - self._met_at > NEWS:
            rotation.meet(await self._waiting_queues())
            self._met_at = time.monotonic()

    async def _claim(self, ask: Ask) -> bool:
        """Take what a claim brings; whether that was anything."""
        if not ask.caps or self._hand.bytes >= HELD_BYTES:
            return False
        jobs = await self._hand_over(ask.caps, ask.room)
        self._rotation.note(ask.caps, ask.room, (job.queue for job in jobs))
        if ask.probes is not None:
            until = time.monotonic() + LONGEST_WAIT
            blocks = self._waiting.kinds.blocks
            self._held.update({job.queue: until for job in jobs if blocks(job) == ask.probes})
        return bool(jobs)

    async def _waiting_queues(self) -> list[str]:
        """Every queue that may give a job now or later."""
        return [
            queue.name
            for queue in await self._store.queues()
            if queue.name in self._unanswered
            or (not queue.paused and not WAITING.isdisjoint(queue.counts))
        ]

    async def _hand_over(self, caps: Mapping[str, int], room: int) -> Sequence[Job]:
        most_bytes = min(CLAIM_BYTES, HELD_BYTES - self._hand.bytes)
        claim = asyncio.ensure_future(
            self._store.claim(caps, room, self._lease, self._worker, most_bytes)
        )
        try:
            jobs = await asyncio.shield(claim)
        except StoreError:
            self._unanswered |= frozenset(caps)
            raise
        except asyncio.CancelledError:
            # What the store has handed over must be taken, or it would be stuck until its
            # lease runs out.
            self._take(await claim)
            raise
        self._unanswered = NOTHING
        self._take(jobs)
        if self.quiet:
            # It was told so while the store looked for them.
            self._runner.waiting.release()
        return jobs

    def _take(self, jobs: Sequence[Job]) -> None:
        kinds = self._waiting.kinds
        kinds.look()
        awaiting, blocking = kinds.split(jobs)
        self._hand.take(awaiting, blocking)
        if self._is_mixed:
            self._shares.note(awaiting, blocking)
        alone: list[Job] = []
        for some, blocks in ((awaiting, False), (blocking, True)):
            if some:
                parts, doubtful = gathered(some)
                if parts is not some:
                    alone += doubtful
                    for part in parts:
                        if isinstance(part, Gathering):
                            self._hand.bundle(part.claims)
                self._waiting.line_up(parts, blocks=blocks)
        self._waiting.start(alone)
