"""Apps of other frameworks with the dashboard in them, served by uvicorn as their users would."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import uvicorn

PATIENCE = 60.0


class Hosted:
    """A running app, and a browser that looks at it."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url = url
        self.session = session

    async def __call__(self, method: str, path: str, **options: Any) -> tuple[int, bytes]:
        async with self.session.request(method, self.url + path, **options) as answer:
            return answer.status, await answer.read()

    async def get(self, path: str, **options: Any) -> tuple[int, bytes]:
        return await self("GET", path, **options)

    async def post(self, path: str, **options: Any) -> tuple[int, bytes]:
        return await self("POST", path, **options)

    @property
    def own(self) -> dict[str, str]:
        """What a browser says of a request by a page from here."""
        return {"Sec-Fetch-Site": "same-origin", "Origin": self.url}


@asynccontextmanager
async def hosting(app: Any) -> AsyncIterator[Hosted]:
    """Serve an app until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    async with asyncio.timeout(PATIENCE):
        while not server.started:
            assert not serving.done(), "the app did not start"
            await asyncio.sleep(0.01)
    jar = aiohttp.CookieJar(unsafe=True)
    try:
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            yield Hosted(f"http://127.0.0.1:{listener.getsockname()[1]}", session)
    finally:
        server.should_exit = True
        async with asyncio.timeout(PATIENCE):
            await serving
