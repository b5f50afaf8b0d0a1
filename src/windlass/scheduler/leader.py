"""Leader election: saves every worker but one the upkeep. Two leaders do no harm."""

from __future__ import annotations

import logging
from typing import Final

from ..core.clock import to_ms
from ..core.workers import UPKEEP
from ..errors import StoreError
from ..observe.events import Events
from ..service import Service
from ..stores.contract import Store

log = logging.getLogger("windlass")

ROLE: Final = UPKEEP
TERM: Final = 10.0
RENEWALS_PER_TERM: Final = 4


class Leader(Service):
    """Tries to be the leader, and stays it by renewing its term."""

    def __init__(
        self,
        store: Store,
        holder: str,
        role: str = ROLE,
        events: Events | None = None,
        term: float = TERM,
    ) -> None:
        super().__init__()
        self._store = store
        self._holder = holder
        self._role = role
        self._events = events or Events()
        self._term = term
        self.is_leader = False

    async def run(self) -> None:
        while not self.stopping:
            term = await self._store.elect(self._role, self._holder, to_ms(self._term))
            self._note(term is not None)
            await self.pause(self._term / RENEWALS_PER_TERM)

    async def stop(self) -> None:
        await super().stop()
        if self.is_leader:
            self._note(False)
            try:
                await self._store.resign(self._role, self._holder)
            except StoreError as error:
                log.warning("could not resign as leader, the term will expire: %s", error)

    def _note(self, leads: bool) -> None:
        if leads != self.is_leader:
            self.is_leader = leads
            self._events.led(self._role, leads)
