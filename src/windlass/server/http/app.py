"""The ASGI app: from an address to its endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from starlette.routing import Route as StarletteRoute
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from ..access import AccessLog
from ..faults import Malformed, NotSo, NotThere, fault_of
from ..site import Site
from .answer import send_problem
from .endpoint import Endpoint
from .routes import ROUTES
from .security import Strict
from .ui import Ui

NO_PARAMETERS: Final[Mapping[str, str]] = {}
LINE: Final = "%s %s %d %.1f ms %s"
"""Of the access log: method, address of the route, status, milliseconds, caller."""

NOTHING: Final = "There is nothing at this address; the API is described at /docs."


def asgi(site: Site) -> ASGIApp:
    """The HTTP API of a site, to be served by itself or mounted into another app."""
    access = AccessLog("windlass.http", LINE, is_kept=site.settings.access_log)
    by_path: dict[str, dict[str, Endpoint]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = Endpoint(route, site, access)
    for methods in by_path.values():
        if "GET" in methods:
            methods["HEAD"] = methods["GET"]
    methods_at = {path: Methods(found) for path, found in by_path.items()}
    routes = [StarletteRoute(path, endpoint=methods) for path, methods in methods_at.items()]
    rest = Ui(site.settings, not_found)
    app = Undecoded(Router(routes, redirect_slashes=False, default=rest), methods_at)
    return Strict(app) if site.settings.has_tls else app


class Undecoded:
    """Routes by the path as it was sent: an id may have a slash in it, as %2F.

    A path that is in the table as it stands needs no router.
    """

    def __init__(self, app: ASGIApp, methods_at: Mapping[str, Methods]) -> None:
        self._app = app
        self._fixed = {path: methods for path, methods in methods_at.items() if "{" not in path}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw = scope.get("raw_path")
            if raw is not None:
                scope["path"] = raw.partition(b"?")[0].decode("latin-1")
            # Mounted into another app, the path begins with where that is.
            known = None if scope.get("root_path") else self._fixed.get(scope["path"])
            await (known or self._app)(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})


class Methods:
    """The endpoints of one address, by method."""

    def __init__(self, endpoints: Mapping[str, Endpoint]) -> None:
        self._endpoints = endpoints
        self._allowed = ", ".join(sorted(endpoints))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        endpoint = self._endpoints.get(method)
        if endpoint is None:
            fault = fault_of(NotSo(f"{method} is not possible here, only {self._allowed}."))
            await send_problem(send, fault, method, [(b"allow", self._allowed.encode())])
            return
        try:
            path = {
                name: unquote(value, errors="strict")
                for name, value in scope.get("path_params", NO_PARAMETERS).items()
            }
        except UnicodeDecodeError:
            fault = fault_of(Malformed("The address is not in UTF-8."))
            await send_problem(send, fault, method)
            return
        await endpoint(scope, receive, send, path)


async def not_found(scope: Scope, receive: Receive, send: Send) -> None:
    await send_problem(send, fault_of(NotThere(NOTHING)), scope["method"])
