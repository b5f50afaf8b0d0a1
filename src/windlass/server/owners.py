"""Which key has entered which worker into the list, so that no other one speaks for it.

A worker says who it is by an id that it has made up. Whoever could beat, leave or count under the
id of another one's worker would have it stop at an order of its own, take it off the list, or make
its counts vanish.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final

from msgspec.structs import replace

from ..core.apikey import Role
from ..core.stats import Tally
from ..core.workers import Order, WorkerInfo
from ..errors import Forbidden, InvalidOption
from ..stores.contract import Store
from .caller import Caller
from .lookout import Lookout

LONGEST_LIFE: Final = 10 * 60_000
"""The most milliseconds for which one beat keeps a worker on the list."""

MOST_QUEUES: Final = 1_000

REMEMBERED: Final = 30.0
"""Seconds for which it is known here who has entered a worker, whatever the list says."""

LASTS: Final = 1.0
"""Seconds for which a look at the list serves the beats of known workers."""

MOST_REMEMBERED: Final = 10_000


class Owners:
    """The workers of callers with keys."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lists = Lookout(_owners, LASTS)
        self._known: dict[str, tuple[str, float]] = {}
        """by worker, the caller that was here last, and until when that counts"""

    async def beat(self, caller: Caller, worker: WorkerInfo, ttl: int) -> Order | None:
        """Enter a worker, or `Forbidden` if its id is that of another caller's."""
        if not 0 < ttl <= LONGEST_LIFE:
            raise InvalidOption(f"ttl is a number from 1 to {LONGEST_LIFE:,} ms; got {ttl:,}.")
        if len(worker.queues) > MOST_QUEUES:
            # Whoever lists workers reads all of it, and each beat of a new one does.
            raise InvalidOption(f"A worker names {MOST_QUEUES:,} queues at the most.")
        owner = await self._owner(caller, worker.id)
        if owner is not None and not _may_speak(caller, owner):
            raise Forbidden(
                f"The worker {worker.id} was not registered by the key {caller.name}: a worker "
                "with another key has an id of its own."
            )
        self._remember(worker.id, caller.name)
        return await self._store.beat(replace(worker, owner=caller.name), ttl)

    async def leave(self, caller: Caller, worker: str) -> None:
        """Take a worker off the list, if it is the caller's."""
        if await self._is_own(caller, worker):
            await self._store.leave(worker)
            self._known.pop(worker, None)

    async def abandon(self, caller: Caller, worker: str) -> int:
        """Let the leases of a worker run out, if it is the caller's."""
        return await self._store.abandon(worker) if await self._is_own(caller, worker) else 0

    async def tally(
        self, caller: Caller, worker: str, number: int, tallies: Sequence[Tally]
    ) -> None:
        """Add what a worker has counted. The numbers of each caller are of its own."""
        mark = blake2b(f"{caller.name}\0{worker}".encode(), digest_size=16).hexdigest()
        await self._store.tally(f"key:{mark}", number, tallies)

    async def _is_own(self, caller: Caller, worker: str) -> bool:
        owner = await self._owner(caller, worker)
        return owner is not None and _may_speak(caller, owner)

    async def _owner(self, caller: Caller, worker: str) -> str | None:
        """The caller that has entered a worker, "" for one that has not come by a server."""
        known, until = self._known.get(worker, (None, 0.0))
        if time.monotonic() > until:
            known = None
        if known == caller.name:
            listed = await self._lists.get(self._store, frozenset())
        else:
            # Nobody was here by this name before: what was seen a moment ago is too old.
            listed = await _owners(self._store)
        return listed.get(worker, known)

    def _remember(self, worker: str, caller: str) -> None:
        now = time.monotonic()
        if len(self._known) >= MOST_REMEMBERED:
            self._known = {id: each for id, each in self._known.items() if each[1] > now}
        if len(self._known) < MOST_REMEMBERED:
            self._known[worker] = caller, now + REMEMBERED


def _may_speak(caller: Caller, owner: str) -> bool:
    return owner == caller.name or Role.ADMIN in caller.allows


async def _owners(store: Store) -> Mapping[str, str]:
    return {worker.id: worker.owner for worker in await store.workers()}
