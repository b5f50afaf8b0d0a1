"""Servers for the tests of the gRPC API, with clients that speak real gRPC to them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import sqlite_in
from tests.server.grpc.client import Client, Served, served
from windlass import Windlass

Serve = Callable[..., Awaitable[Served]]


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else sqlite_in(tmp_path)


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Starts servers that end with the test, for an app of the test or on a store in memory."""
    async with AsyncExitStack() as stack:

        async def serve(app: Windlass | str = "memory://", **options: Any) -> Served:
            if isinstance(app, str):
                app = Windlass(app)
                options = {"has_tasks": False} | options
            stack.push_async_callback(app.aclose)
            return await stack.enter_async_context(served(app, **options))

        yield serve


@pytest.fixture
async def bare(serve: Serve) -> Served:
    """A server that has a store in memory and no app."""
    return await serve()


@pytest.fixture
async def stored(serve: Serve, url: str) -> Served:
    """A server that has a store of either kind and no app."""
    return await serve(url)


@pytest.fixture
def client(bare: Served) -> Client:
    return bare.client


@pytest.fixture
def worker(stored: Served) -> Client:
    return stored.client
