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
from .marks import Marks
from .names import channel

SECOND_LOOK: Final = 0.05
IDLE_LOOK: Final = 1.0
"""Seconds until an idle worker looks by itself, at first and then: what is told beside an insert
is lost if that process dies."""

NAPS: Final = (0.02, 0.05, 0.1)
NAP: Final = 0.25
"""Seconds between two looks where nobody can be heard: short at first, then this."""


class Watch:
    """Waits for work in queues, for one store."""

    def __init__(self, database: PostgresDatabase, marks: Marks) -> None:
        self._database = database
        self._marks = marks
        name = channel(database.settings.schema)
        timeout = database.settings.timeout
        self._listener = Listener(database.connect_raw, name, timeout, marks.recall)

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
            pending, due = await self._database.run(
                lambda now, again: _look(queues, now, self._marks)
            )
            left = deadline - time.monotonic()
            if pending or (due is not None and due <= 0) or left <= 0:
                return
            nap = left if due is None else min(left, due / 1000)
            if self._marks.hold:
                nap = min(nap, self._marks.left)
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
        return SECOND_LOOK if looks == 0 else IDLE_LOOK


def _look(queues: Sequence[str], now: int | None, marks: Marks) -> Operation[Row]:
    row: Row
    params: dict[str, Any] = {"now": now}
    if marks.hold and (known := queues or marks.queues()):
        params |= {"queues": list(known), **marks.ranges(known)._asdict()}
        [row] = yield Statement("ready_marked", params)
        return row
    if queues:
        params["queues"] = list(queues)
    [row] = yield Statement("ready" if queues else "ready_anywhere", params)
    return row
