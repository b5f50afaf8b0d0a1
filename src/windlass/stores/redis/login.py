"""Who we are to a server, and how long it may take."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from ...errors import InvalidOption

Credentials = Callable[[], tuple[str | None, str]]
"""Gives a user name, or None, and a password; asked for each connection, since tokens rotate."""


class Login(NamedTuple):
    """Who we are to a server, and how long one of its replies may take."""

    username: str | None
    password: str | None
    db: int
    tls: ssl.SSLContext | None
    timeout: float
    connect_timeout: float = 5.0
    client_name: str = "windlass"
    credentials: Credentials | None = None
    connections: int = 64
    """the most of a blocking store, to one server"""

    def who(self) -> tuple[str, ...]:
        """What AUTH takes; nothing if it is not needed."""
        username, password = self.username, self.password
        if self.credentials is not None:
            username, password = self.credentials()
        if password is None and username is None:
            return ()
        # A user without a password is let in with any.
        return (username, password or "") if username else (password or "",)


def credentials_of(path: str, of: str) -> Credentials:
    """The function that a URL names as module:function."""
    module, _, name = path.partition(":")
    try:
        found = getattr(import_module(module), name) if module and name else None
    except (ImportError, AttributeError) as error:
        raise InvalidOption(f"credentials={path} in {of} cannot be imported: {error}.") from None
    if not callable(found):
        raise InvalidOption(
            f"credentials in {of} names a function as module:function, which returns a user name, "
            "or None, and a password."
        )
    return found  # type: ignore[no-any-return]
