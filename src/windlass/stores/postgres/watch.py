"""Lets idle workers sleep until there may be work.

The server tells, to the connection that listens. Where nobody can listen, behind a pooler for
one, it is a look every now and then.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from ..sql.operation import Operation, Row, Statement
from .database import PostgresDatabase
from .listener import Listener
from .names import channel

SECOND_LOOK: Final = 0.05
"""Seconds until an idle worker looks once more: an insert that was under way at the first look
may have found somebody at work and told nobody."""

NAPS: Final = (0.02, 0.05, 0.1)
NAP: Final = 0.25
"""Seconds between two looks where nobody can be heard: short at first, then this."""


class Watch:
    """Waits for work in queues, for one store."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._listener = Listener(database.connect_raw, channel(database.settings.schema))

    async def close(self) -> None:
        await self._listener.close()

    def wake(self) -> None:
        """Something changed in this process: who cannot hear of it is told."""
        if not self._listener.listens:
            self._listener.wake()

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        deadline = time.monotonic() + timeout
        wanted = frozenset(queues)
        looks = 0
        while True:
            listens = self._listens()
            pending, due = await self._database.run(lambda now, again: _look(queues, now))
            left = deadline - time.monotonic()
            if pending or (due is not None and due <= 0) or left <= 0:
                return
            nap = left if due is None else min(left, due / 1000)
            if await self._listener.wait(wanted, min(nap, self._nap(looks, listens))) and listens:
                return
            looks += 1

    def _listens(self) -> bool:
        """Whether what is said from now on will be heard."""
        if self._database.settings.listen is False:
            return False
        if self._database.pooled and not self._database.settings.listen:
            return False
        self._listener.start()
        return self._listener.listens

    def _nap(self, looks: int, listens: bool) -> float:
        """How long to sleep at most before the next look."""
        if not listens:
            return NAPS[looks] if looks < len(NAPS) else NAP
        return SECOND_LOOK if looks == 0 else float("inf")


def _look(queues: Sequence[str], now: int | None) -> Operation[Row]:
    params: dict[str, Any] = {"now": now}
    if queues:
        params["queues"] = list(queues)
    rows = yield Statement("ready" if queues else "ready_anywhere", params)
    row: Row = rows[0]
    return row
