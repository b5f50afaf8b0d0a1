"""The description of the API, for programs and for people."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from .call import Binary, Call
from .openapi import describe
from .reference import STYLE, page_of
from .security import page_headers


async def openapi(call: Call[None, None]) -> Binary:
    """The OpenAPI description of this API."""
    return Binary(_description(), "application/json")


async def reference(call: Call[None, None]) -> Binary:
    """The reference page."""
    return Binary(_page(), "text/html; charset=utf-8", page_headers(style=STYLE))


@cache
def _description() -> bytes:
    # Not at the top: the table of routes has these functions in it.
    from .routes import ROUTES

    return msgspec.json.encode(describe(ROUTES))


@cache
def _page() -> bytes:
    return page_of(described()).encode()


def described() -> dict[str, Any]:
    """The description of all routes, as it is read."""
    read: dict[str, Any] = msgspec.json.decode(_description())
    return read
