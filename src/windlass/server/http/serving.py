"""Uvicorn, run as one part of a process that has others."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import uvicorn

from ...config import ServerSettings
from ...errors import ConfigError
from ..site import Site
from .app import asgi
from .protocol import bounded

BACKLOG: Final = 2_048
TICK: Final = 1.0
TURNS: Final = 3
"""Of the event loop: a connection that was just accepted is known by then, a closed one gone."""
CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2; uvicorn's own choice are older ones. Those of TLS 1.3 are all good."""


class _Uvicorn(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.stopping = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the whole process' affair."""
        yield

    async def main_loop(self) -> None:
        """Until it is to stop. Uvicorn would look ten times a second whether it is."""
        while not self.stopping.is_set():
            await self.on_tick(0)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), TICK)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections and let the others end; at once, if nothing goes on in them.

        Uvicorn would look after a tenth of a second whether they have.
        """
        for server in self.servers:
            server.close()
        for connection in [*self.server_state.connections]:
            connection.shutdown()
        for _ in range(TURNS):
            await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)


class HttpServer:
    """Serves the HTTP API from `start` to `stop`."""

    def __init__(self, site: Site) -> None:
        self._settings = site.settings
        self._server = _Uvicorn(_config(site))
        self._task: asyncio.Task[None] | None = None
        self.port = 0
        """known once it listens"""

    async def start(self) -> None:
        _load(self._server.config)
        made = listening(self._settings)
        self.port = made.getsockname()[1]
        self._task = asyncio.create_task(self._server.serve(sockets=[made]))
        while not self._server.started:
            if self._task.done():
                await self._task
                raise ConfigError("The HTTP server ended as soon as it was started; see the log.")
            await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Let requests that are under way finish, and take no more connections from then on.

        Meanwhile those that still come are answered: whoever asks is told that this server is not
        ready, and to come back on another connection.
        """
        if self._task is None:
            return
        began, limit = asyncio.get_running_loop().time(), self._settings.shutdown_timeout
        if under_way := [*self._server.server_state.tasks]:
            await asyncio.wait(under_way, timeout=limit)
        left = limit - (asyncio.get_running_loop().time() - began)
        self._server.config.timeout_graceful_shutdown = max(1, round(left))
        self._server.stopping.set()
        await self._task


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


def _config(site: Site) -> uvicorn.Config:
    settings = site.settings
    return uvicorn.Config(
        asgi(site),
        http=bounded(settings),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        root_path=settings.root_path,
        backlog=BACKLOG,
        timeout_keep_alive=max(1, round(settings.keep_alive)),
        ssl_certfile=settings.tls_cert or None,
        ssl_keyfile=settings.tls_key or None,
        ssl_ca_certs=settings.tls_client_ca or None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if settings.tls_client_ca else ssl.CERT_NONE,
        ssl_ciphers=CIPHERS,
    )


def _load(config: uvicorn.Config) -> None:
    try:
        config.load()
    except (OSError, ValueError) as error:
        # Of a file that is no certificate OpenSSL has nothing to say that people understand.
        said = error.strerror if isinstance(error, FileNotFoundError) else str(error)
        files = [config.ssl_certfile, config.ssl_keyfile, config.ssl_ca_certs]
        named = ", ".join(str(file) for file in files if file)
        raise ConfigError(f"TLS cannot be served with {named}: {said}.") from None
