"""The HTTP API, served as one part of a process that has others."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress
from typing import Final

from ...config import ServerSettings
from ...errors import ConfigError
from ..site import Site
from .app import asgi
from .connections import App, Connections
from .lifespan import Lifespan
from .protocol import Connection
from .tls import has_hello, tls_of
from .turns import Turns

BACKLOG: Final = 2_048
AT_ONCE: Final = 100
"""Connections that are taken in one turn of the loop: who was let in is read before others come."""
LAST: Final = 5.0
"""Seconds for the end of what was told to end."""
PAUSE: Final = 0.1
"""Seconds until connections are taken again where there was no file left for one."""
GOODBYE: Final = 2.0
"""Seconds in which a client may end TLS as it should."""


class HttpServer:
    """Serves the HTTP API from `start` to `stop`."""

    def __init__(self, site: Site, app: App | None = None) -> None:
        self._settings = site.settings
        self._app = app or asgi(site)
        self._lifespan = Lifespan(self._app)
        self._connections: Connections | None = None
        self._doors: Doors | None = None
        self.port = 0
        """known once it listens"""

    @property
    def connections(self) -> Connections:
        assert self._connections is not None, "it was not started"
        return self._connections

    async def start(self) -> None:
        tls = tls_of(self._settings)
        made = listening(self._settings)
        try:
            await self._lifespan.start()
        except BaseException:
            made.close()
            raise
        self.port = made.getsockname()[1]
        scheme = "http" if tls is None else "https"
        self._connections = Connections(self._app, self._settings, scheme=scheme)
        self._doors = Doors(self._connections, made, tls)
        await self._doors.open()

    async def stop(self) -> None:
        """Let requests that are under way finish, and take no more connections from then on.

        Meanwhile those that still come are answered: whoever asks is told that this server is not
        ready, and to come back on another connection.
        """
        if self._doors is None:
            return
        connections, doors = self.connections, self._doors
        loop, limit = asyncio.get_running_loop(), self._settings.shutdown_timeout
        until = loop.time() + limit
        if under_way := [*connections.tasks]:
            await asyncio.wait(under_way, timeout=limit)
        self._doors = None
        await doors.close()
        connections.shut_down()
        if under_way := [*connections.tasks]:
            await asyncio.wait(under_way, timeout=max(0.0, until - loop.time()))
        if late := [*connections.tasks]:
            for task in late:
                task.cancel()
            # What they answer still has to go out.
            await asyncio.wait(late, timeout=LAST)
        await self._sent(max(until, loop.time() + 1.0))
        connections.abort()
        for _ in range(2):
            # Each is told that it is gone in a turn of its own.
            await asyncio.sleep(0)
        await self._lifespan.stop()

    async def _sent(self, until: float) -> None:
        """Return when all answers have gone, or at that time of the loop."""
        connections = self.connections
        while connections.unsent and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.01)


class Doors:
    """Takes connections, and those with TLS when they have shaken hands."""

    def __init__(
        self, connections: Connections, made: socket.socket, tls: ssl.SSLContext | None
    ) -> None:
        self._connections = connections
        self._socket = made
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._shaking: dict[asyncio.Task[None], None] = {}
        """in the order in which they came"""
        self._turns = Turns(connections)

    async def open(self) -> None:
        if self._tls is None:
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(
                lambda: Connection(self._connections), sock=self._socket, backlog=AT_ONCE
            )
            # The system may hold more of them.
            self._socket.listen(BACKLOG)
            return
        self._socket.setblocking(False)
        self._socket.listen(BACKLOG)
        self._accepting = asyncio.create_task(self._accept())

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        if self._accepting is not None:
            tasks = [self._accepting, *self._shaking]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._socket.close()

    async def _accept(self) -> None:
        """Count a connection when it is there: who never shakes hands would not be seen."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                made, _ = await loop.sock_accept(self._socket)
            except OSError:
                # No file is left for it, or it is gone already.
                await asyncio.sleep(PAUSE)
                continue
            if not self._has_room():
                made.close()
                continue
            task = loop.create_task(self._shake(made))
            self._shaking[task] = None
            self._connections.shaking = len(self._shaking)
            task.add_done_callback(self._forget)

    def _has_room(self) -> bool:
        if self._connections.make_room():
            return True
        if self._shaking:
            task = next(iter(self._shaking))
            self._forget(task)
            task.cancel()
            return True
        return False

    async def _shake(self, made: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        # A client that leaves, is late or says nonsense is no concern of anybody.
        with suppress(OSError, TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(self._connections.settings.header_timeout):
                await has_hello(made)
                await self._turns.take()
            await loop.connect_accepted_socket(
                lambda: Connection(self._connections),
                made,
                ssl=self._tls,
                ssl_handshake_timeout=self._connections.settings.header_timeout,
                ssl_shutdown_timeout=GOODBYE,
            )
            return
        made.close()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._shaking.pop(task, None)
        self._turns.end(task)
        self._connections.shaking = len(self._shaking)


def listening(settings: ServerSettings) -> socket.socket:
    """A socket on the host and port of the settings, or `ConfigError` with the reason."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With its protocol: without it asyncio would leave Nagle's algorithm on, 40 ms an answer.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host, settings.http_port))
    except (OSError, OverflowError) as error:
        made.close()
        raise ConfigError(
            f"{settings.host}:{settings.http_port} cannot be listened on: "
            f"{getattr(error, 'strerror', None) or error}; choose another --http-port or --host."
        ) from None
    return made
