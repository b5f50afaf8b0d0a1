"""Keeps a worker on the list of workers for as long as it lives."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from ..core.clock import to_ms
from ..core.workers import Order, WorkerInfo
from ..errors import StoreError
from ..service import Service
from ..stores.contract import Store

log = logging.getLogger("windlass")

BEAT: Final = 5.0
LIFE: Final = 30.0
"""A worker that was not heard of for so many seconds is taken for dead."""


class Presence(Service):
    """Says every few seconds that the worker is there, and good-bye at its end.

    What the store answers, the order that stands, is passed on each time.
    """

    def __init__(
        self,
        store: Store,
        describe: Callable[[], WorkerInfo],
        told: Callable[[Order | None], None],
    ) -> None:
        super().__init__()
        self._store = store
        self._describe = describe
        self._told = told

    async def run(self) -> None:
        while not self.stopping:
            self._told(await self._store.beat(self._describe(), to_ms(LIFE)))
            await self.pause(BEAT)

    async def stop(self) -> None:
        await super().stop()
        try:
            await self._store.leave(self._describe().id)
        except StoreError as error:
            log.warning("could not leave the list of workers, it will expire: %s", error)
