"""The order in which connections begin with TLS."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from .connections import Connections

MOST_WITH_TLS: Final = 100
"""Connections with TLS of which no request was let in yet."""
LONG: Final = 1.0
"""Seconds after which one of them is given up for others."""
LOOK: Final = 0.02
"""Seconds between two looks at whether there is room."""


class Turns:
    """Who may begin with TLS: it costs some 70 KiB, and so few who were not let in yet have it.

    Whoever came last goes first: where thousands greet and say no more, somebody who goes on is
    not behind them. Nobody has to be quicker than `LONG` while others wait.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._begun: dict[asyncio.Task[Any], float] = {}
        self._line: list[asyncio.Future[None]] = []

    async def take(self) -> None:
        """Wait for one's turn; it is over when `end` is told of this task."""
        task = asyncio.current_task()
        assert task is not None
        loop = self._connections.loop
        if self._line or not self._has_room():
            turn = loop.create_future()
            self._line.append(turn)
            if len(self._line) == 1:
                loop.call_later(LOOK, self._go_on)
            await turn
        self._begun[task] = loop.time()

    def end(self, task: asyncio.Task[Any]) -> None:
        self._begun.pop(task, None)

    def _has_room(self) -> bool:
        return len(self._begun) + len(self._connections.strangers) < MOST_WITH_TLS

    def _go_on(self) -> None:
        self._line = [turn for turn in self._line if not turn.done()]
        pause = LOOK
        if self._line and (self._has_room() or self._give_up_one()):
            # It counts when its task runs, and who was given up no longer: both by the next turn.
            self._line.pop().set_result(None)
            pause = 0.0
        if self._line:
            self._connections.loop.call_later(pause, self._go_on)

    def _give_up_one(self) -> bool:
        """End whoever has taken the longest, if that is long."""
        shared = self._connections
        late = shared.heads.longest(LONG) or shared.idle.longest(LONG)
        if late is not None:
            late.cut()
            return True
        for task, begun in self._begun.items():
            if shared.loop.time() - begun < LONG:
                return False
            self.end(task)
            task.cancel()
            return True
        return False
