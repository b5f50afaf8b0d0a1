"""The HTTP API as an app of ASGI, for servers of other makes: `app` is what they are given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from windlass.config import ServerSettings
from windlass.server.http.app import asgi
from windlass.server.site import make_site

from .jobs import app as jobs

Message = MutableMapping[str, Any]
App = Callable[[Message, Any, Any], Awaitable[None]]

_served: list[App] = []


async def app(scope: Message, receive: Any, send: Any) -> None:
    """Makes the parts when the server starts, and has requests answered by them."""
    if scope["type"] != "lifespan":
        await _served[0](scope, receive, send)
        return
    await receive()
    site = await make_site(jobs, ServerSettings(access_log=False), has_tasks=True)
    await site.keyring.load()
    _served.append(asgi(site))
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await jobs.aclose()
    await send({"type": "lifespan.shutdown.complete"})
