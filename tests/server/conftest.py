"""Servers for the tests of the HTTP API."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from tests.server.serving import EVERY_QUEUE, Served, served
from tests.server.shop import Shop
from windlass import Windlass
from windlass.worker.worker import Worker

Serve = Callable[..., Awaitable[Served]]
Working = Callable[[], Any]


@pytest.fixture
async def shop() -> AsyncIterator[Shop]:
    app = Shop()
    yield app
    await app.aclose()


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts servers that end with the test, for an app of the test or on a store in memory."""
    async with AsyncExitStack() as stack:

        async def serve(app: Windlass | None = None, **options: Any) -> Served:
            if app is None:
                app = Windlass("memory://")
                stack.push_async_callback(app.aclose)
                options = {"has_tasks": False} | options
            return await stack.enter_async_context(served(app, **options))

        yield serve


@pytest.fixture
async def api(serve: Serve, shop: Shop) -> Served:
    """A server of the shop, open to everybody."""
    return await serve(shop)


@pytest.fixture
async def bare(serve: Serve) -> Served:
    """A server that has a store and no app."""
    return await serve()


@pytest.fixture
def working(shop: Shop) -> Working:
    """A worker for all queues of the shop, within a block."""

    @asynccontextmanager
    async def working() -> AsyncIterator[Worker]:
        worker = await shop.worker(EVERY_QUEUE)
        await worker.start()
        try:
            store = await shop.client.store()
            async with asyncio.timeout(30):
                while worker.id not in {each.id for each in await store.workers()}:
                    await asyncio.sleep(0.01)
            yield worker
        finally:
            shop.opened.set()
            await worker.stop()

    return working
