"""The dashboard inside of another ASGI app: with its API, below a path of that app.

It has no socket and no upkeep of its own. Its parts run on the event loop of the app around it:
from the start of that app if it is told (`lifespan`), else from the first request on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

from msgspec.structs import replace
from starlette.types import ASGIApp, Receive, Scope, Send

from ..app import Windlass
from ..config import ServerSettings
from ..errors import ConfigError
from ..service import Service
from .farewell import Farewell
from .http.app import asgi
from .site import Authorize, Site, make_site

log = logging.getLogger("windlass")


def dashboard(
    app: Windlass,
    *,
    authorize: Authorize | None = None,
    settings: ServerSettings | None = None,
) -> Dashboard:
    """The dashboard of an app, to be mounted into a Starlette, FastAPI or Django app.

    `authorize` tells by a request who makes it, as a `Caller`, or None for nobody; without it, one
    logs in with an API key of the store. Of the settings those count that are not about listening.
    """
    # Who can reach it is the affair of the app around: nothing here is to be taken for local.
    given = replace(settings or ServerSettings(), host="0.0.0.0")
    return Dashboard(app, given, authorize)


class Dashboard:
    """An ASGI app."""

    def __init__(
        self, app: Windlass, settings: ServerSettings, authorize: Authorize | None
    ) -> None:
        self._app = app
        self._settings = settings
        self._authorize = authorize
        self._running: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[_Parts]]
        self._running = WeakKeyDictionary()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        else:
            await (await self._started()).asgi(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self, host: Any = None) -> AsyncIterator[None]:
        """Start now and stop at the end of the block: the `lifespan` of a Starlette or FastAPI app,
        or a part of it."""
        await self._started()
        try:
            yield
        finally:
            await self._stop()

    def in_front_of(self, host: ASGIApp, at: str = "/windlass") -> ASGIApp:
        """An app that has the dashboard at a path, and `host` everywhere else.

        For those that cannot mount others and know nothing of lifespans, as Django.
        """
        if not at.startswith("/") or at.endswith("/"):
            raise ConfigError(f"A dashboard is mounted at a path such as /windlass; got {at!r}.")

        async def front(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await self(scope, receive, send)
            elif f"{scope['path']}/".startswith(f"{scope.get('root_path', '')}{at}/"):
                below = {**scope, "root_path": f"{scope.get('root_path', '')}{at}"}
                await self(below, receive, send)
            else:
                await host(scope, receive, send)

        return front

    async def _started(self) -> _Parts:
        loop = asyncio.get_running_loop()
        task = self._running.get(loop)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._running[loop] = loop.create_task(self._start())
        # The request that came first may leave before others that wait for the same.
        return await asyncio.shield(task)

    async def _start(self) -> _Parts:
        site = await make_site(self._app, self._settings, has_tasks=True, authorize=self._authorize)
        parts = _Parts(site)
        await parts.start(has_keys=self._authorize is None)
        return parts

    async def _stop(self) -> None:
        task = self._running.pop(asyncio.get_running_loop(), None)
        if task is not None:
            await (await task).stop()

    async def _live(self, receive: Receive, send: Send) -> None:
        """The protocol of a lifespan, for servers that have this as their app."""
        await receive()
        try:
            await self._started()
        except Exception as error:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._stop()
        await send({"type": "lifespan.shutdown.complete"})


class _Parts:
    """What runs on one event loop."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._services: tuple[Service, ...] = (site.keyring, site.watcher, site.pulse)
        self._farewell = Farewell(self._part)
        self.asgi = asgi(site)

    async def start(self, *, has_keys: bool) -> None:
        try:
            await self._site.keyring.load()
        except ConfigError:
            if has_keys:
                log.warning(
                    "The dashboard has no users yet: run windlass keys create --role admin, or "
                    "pass authorize=, which says who may look."
                )
        for service in self._services:
            service.start()
        self._site.workers.start()
        self._farewell.listen()

    async def stop(self) -> None:
        self._farewell.forget()
        self._part()
        await self._site.workers.stop()
        for service in reversed(self._services):
            await service.stop()
        self._site.audit.close()

    def _part(self) -> None:
        """Let nobody wait any longer, or the app around could not stop."""
        self._site.draining.set()
        self._site.watcher.release()
        self._site.workers.release()
