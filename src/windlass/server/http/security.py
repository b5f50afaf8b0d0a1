"""What browsers are told about our pages: to load nothing of others, and to show them in no frame
but where they may be."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .exchange import KEY, PLAIN_KEY

Headers = list[tuple[bytes, bytes]]

NOSNIFF: Final = (b"x-content-type-options", b"nosniff")
NOBODY: Final = "'none'"

STRICT: Final = (b"strict-transport-security", b"max-age=31536000")
"""Of a server with TLS: browsers ask for its pages in no other way from then on, for a year."""


class Strict:
    """An app that says so with each of its answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def said(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], STRICT]
            await send(message)

        # The short way has room for what all answers have, and for nothing else.
        scope[PLAIN_KEY] = scope.pop(KEY, None)
        await self._app(scope, receive, said)


def page_headers(ancestors: Sequence[str] = (), *, style: str = "") -> Headers:
    """The headers of a page; `ancestors` may frame it, `style` is written in it."""
    styles = "'self'" if not style else f"'sha256-{_digest(style)}'"
    policy = {
        "default-src": NOBODY,
        "script-src": "'self'" if not style else NOBODY,
        "style-src": styles,
        "img-src": "'self' data:",
        "font-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(map(_source, ancestors)) or NOBODY,
    }
    headers = [
        (b"content-security-policy", "; ".join(map(" ".join, policy.items())).encode()),
        # Not less: of a page without any, browsers would not say where its requests come from.
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]
    if not ancestors:
        headers.append((b"x-frame-options", b"DENY"))
    return headers


def _source(name: str) -> str:
    return "'self'" if name == "self" else name


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
