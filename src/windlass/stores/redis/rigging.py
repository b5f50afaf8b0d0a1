"""The parts of the store and how they are put together, opened and closed."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from ...core.clock import Clock
from .attempts import Attempts
from .changes import Changes
from .errands import Errands
from .fences import Fences
from .finishing import Finisher
from .inserting import Inserter
from .keys import SHARDS, Keys, tags
from .lookout import LIMIT, Lookout
from .names import Names
from .opening import Partitions, check_version, misplaced, risks, warn_of_losses
from .outbox import Outbox
from .parents import Parents
from .places import Places
from .schedules import Schedules, Ticks
from .scripts import texts
from .shard import Shard
from .spread import Spread
from .together import together
from .transport import Transport
from .unblocking import Unblocking
from .url import Settings
from .waiting import Waiting
from .wake import Wakeups

T = TypeVar("T")


class Rigging:
    """What the operations of the store are made with."""

    def __init__(self, settings: Settings, transport: Transport, clock: Clock | None) -> None:
        several = SHARDS if settings.topology == "cluster" else 1
        self._transport = transport
        self._channel = f"{settings.namespace}:{settings.db}:wake"
        self._fences = Fences()
        self._shards = [
            Shard(
                Places(n, several),
                transport,
                Keys(settings.namespace, tag),
                self._channel,
                clock,
            )
            for n, tag in enumerate(tags(several))
        ]
        self._spread = Spread(several, settings.partitions)
        self._errands = Errands(blocking=self.blocking)
        self._lookout = Lookout(
            several, self._errands, patience=settings.patience, blocking=self.blocking
        )
        self._partitions = Partitions(self._shards, self._spread, self._lookout, self._errands)
        self._parents = Parents(self._shards, self._spread)
        self._names = Names(self._shards, self._spread, self._parents, self._lookout)
        self._unblocking = Unblocking(self._shards, self._names, self._lookout, self._errands)
        self._inserter = Inserter(
            self._shards, self._spread, self._names, self._parents, self._unblocking
        )
        self._finisher = Finisher(
            self._shards, self._names, self._lookout, self._errands, self._unblocking
        )
        self._attempts = Attempts(self._shards, self._spread)
        self._changes = Changes(
            self._shards,
            self._names,
            self._parents,
            self._unblocking,
            self._attempts,
            self._lookout,
        )
        self._schedules = Schedules(self._shards[0])
        self._ticks = Ticks(
            self._shards, self._spread, self._names, self._parents, self._unblocking
        )
        self._outbox = Outbox(self._shards, self._names, self._parents, self._ticks, self._lookout)
        self._wakeups = Wakeups(lambda heard: transport.listen(self._channel, heard))
        self._waiting = Waiting(
            self._shards, self._spread, self._partitions, self._lookout, self._wakeups
        )

    @property
    def blocking(self) -> bool:
        return self._transport.blocking

    # -- life of the store ---------------------------------------------------------------

    async def open(self) -> None:
        # All files are read here: an open store needs no file that a full process could not have.
        texts()
        await self._transport.open()
        await check_version(self._shards, self._lookout)
        await self._partitions.open()
        if not self.blocking:
            await warn_of_losses(self._transport)

    async def close(self) -> None:
        if not self.blocking:
            await self._wakeups.stop()
            await self._errands.stop()
        await self._transport.close()

    async def migrate(self) -> Sequence[str]:
        await check_version(self._shards, self._lookout)
        return ()

    async def ping(self) -> None:
        await self._first(lambda shard: shard.time())

    async def risks(self) -> Sequence[str]:
        wrong = await together([misplaced(shard) for shard in self._shards])
        return [*await risks(self._transport), *(text for some in wrong for text in some)]

    async def now(self) -> int:
        return await self._first(lambda shard: shard.time())

    async def _first(self, question: Callable[[Shard], Coroutine[Any, Any, T]]) -> T:
        """What a shard answers: the first one, unless that is down."""
        numbers = range(len(self._shards))
        return await self._lookout.first(numbers, lambda number: question(self._shards[number]))

    async def _ask(
        self, question: Callable[[Shard], Coroutine[Any, Any, T]], limit: float = LIMIT
    ) -> dict[int, T]:
        """What all shards answer but those that are down."""
        numbers = range(len(self._shards))
        return await self._lookout.ask(
            numbers, lambda number: question(self._shards[number]), limit
        )
