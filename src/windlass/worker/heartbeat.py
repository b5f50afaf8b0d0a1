"""Renews the leases of everything in hand, and stops attempts whose lease is gone."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from ..core.clock import to_ms
from ..core.model import Lease
from ..service import Service
from ..stores.contract import Store
from .hand import Hand

log = logging.getLogger("windlass")

BEATS_PER_LEASE: Final = 4
"""Three beats may fail before a lease is in danger."""

LONGEST_PAUSE: Final = 2.0
"""A job that is cancelled while it runs is stopped within so many seconds."""


class Heartbeat(Service):
    """Renews leases; one that the store no longer knows is the signal to stop the attempt."""

    def __init__(
        self, store: Store, lease: float, hand: Hand, lose: Callable[[Lease], None]
    ) -> None:
        super().__init__()
        self._store = store
        self._lease = lease
        self._hand = hand
        self._lose = lose

    async def run(self) -> None:
        while not self.stopping:
            await self.pause(min(self._lease / BEATS_PER_LEASE, LONGEST_PAUSE))
            await self._beat()

    async def _beat(self) -> None:
        leases = self._hand.leases
        if not leases:
            return
        # A job that came back is in hand twice; the store holds its last lease at most.
        last = {lease.id: lease for lease in leases}
        held = await self._store.renew(leases, to_ms(self._lease))
        for lease in leases:
            kept = lease.id in held and lease is last[lease.id]
            # Finished and written since the list was made: not lost, just done.
            if not kept and lease in self._hand:
                log.warning("job %s: cancelled or taken over, stopping it", lease.id)
                self._lose(lease)
