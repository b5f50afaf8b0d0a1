"""A server in a thread of its own, for clients that block."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.server.serving import Served, served
from windlass import Windlass

PATIENCE = 60.0


@contextmanager
def in_background(app: Windlass, **options: object) -> Iterator[Served]:
    """Serve an app until the block ends; its loop runs nowhere else."""
    ready: list[Served] = []
    started, leave = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with served(app, **options) as api:  # type: ignore[arg-type]
            ready.append(api)
            started.set()
            await leave.wait()
        await app.aclose()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            started.set()
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert started.wait(PATIENCE)
        yield ready[0]
    finally:
        loop.call_soon_threadsafe(leave.set)
        thread.join(PATIENCE)
