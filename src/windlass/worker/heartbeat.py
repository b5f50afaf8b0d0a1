"""Renews the leases of everything in hand, and stops attempts whose lease is gone."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final

from ..core.clock import to_ms
from ..core.model import Lease
from ..observe.events import Events
from ..service import Service
from ..stores.contract import Store
from .hand import Hand

log = logging.getLogger("windlass")

BEATS_PER_LEASE: Final = 4
"""Three beats may fail before a lease is in danger."""

LONGEST_PAUSE: Final = 2.0
"""A job that is cancelled while it runs is stopped within so many seconds."""


LATE: Final = 0.5
"""The part of a lease that must be left when it is renewed, for the renewal not to be late."""


class Heartbeat(Service):
    """Renews leases; one that the store no longer knows is the signal to stop the attempt."""

    def __init__(
        self,
        store: Store,
        lease: float,
        hand: Hand,
        lose: Callable[[Lease], None],
        events: Events,
    ) -> None:
        super().__init__()
        self._store = store
        self._lease = lease
        self._hand = hand
        self._lose = lose
        self._events = events
        self._renewed_at = time.monotonic()

    async def run(self) -> None:
        while not self.stopping:
            await self.pause(min(self._lease / BEATS_PER_LEASE, LONGEST_PAUSE))
            await self._beat()

    async def _beat(self) -> None:
        leases = self._hand.leases
        if not leases:
            self._renewed_at = time.monotonic()
            return
        # A job that came back is in hand twice; the store holds its last lease at most.
        last = {lease.id: lease for lease in leases}
        held = await self._store.renew(leases, to_ms(self._lease))
        self._note_renewal(leases)
        for lease in leases:
            kept = lease.id in held and lease is last[lease.id]
            # Finished and written since the list was made: not lost, just done.
            if not kept and lease in self._hand:
                self._lose(lease)

    def _note_renewal(self, leases: Sequence[Lease]) -> None:
        now = time.monotonic()
        # Longer than any of these leases was held; the oldest of them was claimed before that.
        since, self._renewed_at = now - self._renewed_at, now
        if since > self._lease * LATE:
            log.warning("leases were renewed only after %.1f s of %g s", since, self._lease)
            self._events.renewed_late(leases, since)
