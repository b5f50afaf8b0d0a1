"""The dashboard: a page and its files, for everybody; what they show they ask the API for.

Every view has an address below `/ui`, and there is one page for all of them. It says where it is
mounted in its `<base>`; all other addresses in it are relative to that.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from functools import lru_cache
from html import escape
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from starlette.types import ASGIApp, Receive, Send

from ...config import ServerSettings
from ..faults import NotSo, fault_of
from .answer import send_problem
from .assets import SHELL, Asset, assets, made
from .security import NOSNIFF, Headers, page_headers

Scope = MutableMapping[str, Any]

ASSETS: Final = "/assets/"
VIEWS: Final = "/ui/"
BASE: Final = b'<base href="/" />'
LINKED: Final = b'="assets/'
FOR_EVER: Final = b"public, max-age=31536000, immutable"
UNTIL_CHANGED: Final = b"no-cache"


class Ui:
    """Answers for the pages, and leaves all other addresses to `rest`."""

    def __init__(self, settings: ServerSettings, rest: ASGIApp) -> None:
        self._rest = rest
        self._is_on = settings.dashboard
        self._headers = [*page_headers(settings.frame_ancestors), NOSNIFF]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = self._find(scope) if self._is_on else None
        if found is None:
            await self._rest(scope, receive, send)
            return
        asset, lasts = found
        if scope["method"] not in ("GET", "HEAD"):
            fault = fault_of(NotSo(f"{scope['method']} is not possible here, only GET, HEAD."))
            await send_problem(send, fault, scope["method"], [(b"allow", b"GET, HEAD")])
            return
        headers = dict(scope["headers"])
        status, sent, body = _answer(asset, headers)
        sent = [
            *self._headers,
            (b"cache-control", FOR_EVER if lasts else UNTIL_CHANGED),
            *sent,
        ]
        await send({"type": "http.response.start", "status": status, "headers": sent})
        body = b"" if scope["method"] == "HEAD" else body
        await send({"type": "http.response.body", "body": body})

    def _find(self, scope: Scope) -> tuple[Asset, bool] | None:
        path = below_root(scope)
        if path.startswith(ASSETS):
            asset, lasts = assets().get(path.removeprefix(ASSETS))
            return None if asset is None else (asset, lasts)
        if path in ("", "/") or f"{path}/".startswith(VIEWS):
            return shell(scope.get("root_path", "")), False
        return None


def below_root(scope: Scope) -> str:
    """The path of a request from where the app is mounted."""
    path, root = scope["path"], scope.get("root_path", "")
    return str(path[len(root) :] if path.startswith(root) else path)


@lru_cache(maxsize=16)
def shell(root: str) -> Asset:
    """The page of a dashboard that is mounted at `root`."""
    found = assets()
    page = found.found[SHELL].data
    # The path may have parts that the one who asked made up.
    base = escape(f"{quote(root.rstrip('/'))}/").encode()
    page = page.replace(BASE, b'<base href="%s" />' % base, 1)
    linked = f'="assets/{found.version}/'.encode()
    return made(page.replace(LINKED, linked), ".html")


def _answer(asset: Asset, asked: Mapping[bytes, bytes]) -> tuple[int, Headers, bytes]:
    etag = asset.etag.encode()
    headers: Headers = [(b"etag", etag), (b"vary", b"accept-encoding")]
    known = {each.strip() for each in asked.get(b"if-none-match", b"").split(b",")}
    if etag in known:
        return HTTPStatus.NOT_MODIFIED, headers, b""
    data = asset.data
    if asset.packed is not None and _takes_gzip(asked):
        data = asset.packed
        headers.append((b"content-encoding", b"gzip"))
    headers.append((b"content-type", asset.kind.encode()))
    headers.append((b"content-length", b"%d" % len(data)))
    return HTTPStatus.OK, headers, data


def _takes_gzip(asked: Mapping[bytes, bytes]) -> bool:
    for each in asked.get(b"accept-encoding", b"").lower().split(b","):
        name, _, weight = each.partition(b";")
        if name.strip() == b"gzip":
            return weight.replace(b" ", b"") not in (b"q=0", b"q=0.0", b"q=0.00", b"q=0.000")
    return False
