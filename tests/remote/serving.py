"""An HTTP server in a thread of its own, with many sites: one for each test that asks."""

import asyncio
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, NamedTuple, TypeVar

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from windlass import Windlass
from windlass.config import ServerSettings
from windlass.server.http.app import asgi
from windlass.server.site import make_site

T = TypeVar("T")

PATIENCE = 30.0
KEPT = 8
"""So many sites are served; older ones are those of tests that are over."""

ROOMY = ServerSettings(max_body=1 << 30, max_batch=100_000, access_log=False)


class Hosted(NamedTuple):
    """One site."""

    app: Windlass
    api: ASGIApp


class Serving:
    """One server; the first part of a path is the name of a site."""

    def __init__(self) -> None:
        self._sites: dict[str, Hosted] = {}
        self._serial = count()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        # With its protocol: without it asyncio would leave Nagle's algorithm on.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        config = uvicorn.Config(self._dispatch, interface="asgi3", lifespan="off", log_config=None)
        self._server = uvicorn.Server(config)

    def host(self, app: Windlass) -> str:
        """Serve the store of an app; its URL."""

        async def make() -> ASGIApp:
            return asgi(await make_site(app, ROOMY, has_tasks=False))

        name = f"site{next(self._serial)}"
        self._sites[name] = Hosted(app, self._run(make()))
        while len(self._sites) > KEPT:
            self._run(self._sites.pop(next(iter(self._sites))).app.aclose())
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/{name}"

    def start(self) -> None:
        self._thread.start()
        self._serving = asyncio.run_coroutine_threadsafe(
            self._server.serve(sockets=[self._socket]), self._loop
        )

    def stop(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._serving.result(PATIENCE)
        for site in self._sites.values():
            self._run(site.app.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE)

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, name, path = scope["path"].split("/", 2)
        scope = {**scope, "path": f"/{path}", "raw_path": f"/{path}".encode()}
        await self._sites[name].api(scope, receive, send)


@contextmanager
def serving() -> Iterator[Serving]:
    made = Serving()
    made.start()
    try:
        yield made
    finally:
        made.stop()
