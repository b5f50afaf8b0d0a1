"""Server-sent events: one answer that goes on for as long as the client listens."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    MutableMapping,
)
from contextlib import aclosing
from typing import Any, Final, cast

from ...errors import StoreUnavailable
from ..until import until
from .body import Receive
from .security import NOSNIFF

log = logging.getLogger("windlass.http")

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

ALIVE: Final = 15.0
"""Seconds of silence after which a comment is sent, so that nobody between takes it for dead."""

HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    NOSNIFF,
    (b"x-accel-buffering", b"no"),
]
RETRY: Final = b"retry: 2000\n\n"


async def send_events(
    stream: AsyncIterator[tuple[str, bytes]],
    receive: Receive,
    send: Send,
    draining: asyncio.Event,
    method: str,
    over: asyncio.Future[None],
) -> None:
    """Send events until the stream ends or fails, the client leaves, the server is to stop, or it
    is `over` for the one who listens.

    However it ends, a client that wants more comes again.
    """
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    if method == "HEAD":
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return
    client = _Client(receive, send)
    await client.tell(RETRY)
    ends: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(client.stay()),
        asyncio.ensure_future(draining.wait()),
        over,
    ]
    # A generator, which must be closed where it is used.
    async with aclosing(cast(Any, stream)):
        try:
            await until(ends, client.follow(stream))
        except StoreUnavailable as error:
            log.warning("a stream of events ends: %s", error)
        except Exception:
            log.exception("a stream of events failed")
    await send({"type": "http.response.body", "body": b"", "more_body": False})


class _Client:
    """The one who listens. Thousands may, so that an event costs it no task and no timer."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._time = asyncio.get_running_loop().time
        self._told_at = self._time()

    async def tell(self, data: bytes) -> None:
        self._told_at = self._time()
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def follow(self, stream: AsyncIterator[tuple[str, bytes]]) -> None:
        """Tell all events of a stream."""
        async for name, data in stream:
            await self.tell(b"event: %s\ndata: %s\n\n" % (name.encode(), data))

    async def stay(self) -> None:
        """Return when the client leaves; meanwhile, let there be no silence."""
        while True:
            try:
                async with asyncio.timeout_at(self._told_at + ALIVE):
                    while (await self._receive())["type"] != "http.disconnect":
                        pass
                    return
            except TimeoutError:
                if self._time() >= self._told_at + ALIVE:
                    await self.tell(b": alive\n\n")
