"""Connections to one server, as few as are needed at once and no more than allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ...errors import StoreUnavailable
from .link import Link, connect
from .url import Settings


class Pool:
    """Links of one event loop. The one used last is used next, so that few are kept warm."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turns = asyncio.Semaphore(settings.pool)
        self._idle: list[Link] = []
        self._closed = False

    @asynccontextmanager
    async def link(self) -> AsyncIterator[Link]:
        """A link for one operation, which leaves no transaction open on it."""
        async with self._turns:
            if self._closed:
                raise StoreUnavailable("The store is closed; open it before use.")
            link = self._idle.pop() if self._idle else await connect(self._settings)
            try:
                yield link
            finally:
                if self._closed:
                    link.close()
                elif not link.broken:
                    self._idle.append(link)

    def doubt(self) -> None:
        """Hang up on who is idle: one of them was lost, so that the others may be too."""
        for link in self._idle:
            link.close()
        self._idle.clear()

    async def close(self) -> None:
        self._closed = True
        idle, self._idle = self._idle, []
        for link in idle:
            await link.leave()
