"""A server of a chaos run, on the store that all work on: what it has accepted must be kept.

It does upkeep too, as any server does. One that was killed comes back on the same port.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ...config import ServerSettings
from ...config.server import NO_PORT
from ...observe.events import Observer
from ...scheduler.upkeep import upkeep
from ...worker.shutdown import stop_on_signals
from .part import seen_by
from .plan import Part
from .record import Notebook
from .recorder import recorded
from .scenario import make_app
from .trap import Trap
from .worker import settings_of, skew

NEEDED: Final = ("starlette", "httptools", "prometheus_client", "aiohttp")

PORTS: Final = range(20_000, 32_000)
"""Below those that the system gives to clients: one of them could take it while the server is
down."""


def can_serve() -> bool:
    """Whether the extras are there that a server and its callers need."""
    return all(find_spec(module) is not None for module in NEEDED)


def free_port() -> int:
    """A port of this machine that nobody listens on right now."""
    for port in random.sample(PORTS, 200):
        with socket.socket() as candidate:
            try:
                candidate.bind(("127.0.0.1", port))
            except OSError:
                # Somebody has it.
                continue
            return port
    raise RuntimeError(f"No port is free between {PORTS.start} and {PORTS.stop}.")


class Taken(Observer):
    """Passes the trap when the store has answered a caller, who has no answer yet."""

    def __init__(self, trap: Trap) -> None:
        self._trap = trap

    def called(self, call: str, seconds: float, error: BaseException | None) -> None:
        if call == "insert":
            self._trap.passed(call, after=True)


async def serve(part: Part) -> None:
    """Serve until SIGTERM."""
    from ...server.server import make_server

    node = f"server-{os.getpid()}"
    book = Notebook(Path(part.folder, f"{node}.jsonl"))
    if part.skew:
        skew(part.skew)
    app = make_app(part.url, book, node, ticks=part.ticks)
    trap = Trap(part.trap, book, node)
    app.registry.events.observe(Taken(trap))
    stop = asyncio.Event()
    # Its own upkeep is left out: by its lease, a run would wait long for what a dead one held.
    settings = ServerSettings(
        http_port=part.port, grpc_port=NO_PORT, upkeep=False, shutdown_timeout=2.0, access_log=False
    )
    try:
        server = await make_server(app, settings)
        store = recorded(seen_by(part, server.site.store), book, node, trap)
        services = upkeep(store, app.registry, settings_of(part))
        with stop_on_signals(stop.set):
            await server.start()
            for service in services:
                service.start()
            await stop.wait()
            await server.stop()
            for service in reversed(services):
                await service.stop()
    finally:
        await app.aclose()
