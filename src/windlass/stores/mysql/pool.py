"""Connections to one server, as few as are needed at once and no more than allowed."""

from __future__ import annotations

import asyncio
from time import monotonic
from types import TracebackType
from typing import Final

from ...errors import StoreUnavailable
from .fault import Lost
from .link import Link, connect
from .url import Settings

LONG_IDLE: Final = 10.0
"""Seconds after which a link is asked whether it is still there."""


class Pool:
    """Links of one event loop. The one used last is used next, so that few are kept warm."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turns = asyncio.Semaphore(settings.pool)
        self._idle: list[Link] = []
        self._closed = False

    def link(self) -> Use:
        """A link for one operation, which leaves no transaction open on it."""
        return Use(self)

    async def take(self) -> Link:
        """One that is the caller's until it is given back."""
        await self._turns.acquire()
        try:
            if self._closed:
                raise StoreUnavailable("The store is closed; open it before use.")
            return await self._found() or await connect(self._settings)
        except BaseException:
            self._turns.release()
            raise

    def give(self, link: Link) -> None:
        """Take it back."""
        if self._closed:
            link.close()
        elif not link.broken:
            link.used_at = monotonic()
            self._idle.append(link)
        self._turns.release()

    async def _found(self) -> Link | None:
        """One that was used before. It may be gone without a word: if it was idle for long, it is
        asked, for no longer than a new one may take."""
        if not self._idle:
            return None
        link = self._idle.pop()
        if monotonic() - link.used_at > LONG_IDLE:
            try:
                await link.ask(["DO 0"], self._settings.connect_timeout)
            except Lost:
                link.close()
                self.doubt()
                return None
            except BaseException:
                link.close()
                raise
        return link

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


class Use:
    """The use of one link.

    No generator: an event loop that ends closes all of these, and would take a link from whoever
    is using it.
    """

    __slots__ = ("_link", "_pool")

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def __aenter__(self) -> Link:
        self._link = await self._pool.take()
        return self._link

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._pool.give(self._link)
