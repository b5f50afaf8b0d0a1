"""What differs between asyncio and blocking sockets, and what a connection starts with.

All above this line (routes, retries, the meaning of errors) is written once as async
code; on blocking sockets it never suspends, so `windlass.sync.drive` can run it.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Final, Protocol, cast

from hiredis import ReplyError, pack_command

from .fault import Lost, code, refusal
from .login import Login
from .url import Address

Word = str | bytes | int

pack: Final = cast(Callable[[tuple[Word, ...]], bytes], pack_command)
"""The bytes of one command."""


class Link(Protocol):
    """A way to one server. Replies come in order; faults come as values, never raised."""

    address: Address
    heard: bool
    """Set by every reply; whoever clears it can tell whether one came since."""
    abandoned: list[bytes]
    """Commands that end what this link left unanswered; see `greeting`."""

    @property
    def alive(self) -> bool: ...

    def send(self, command: bytes) -> Awaitable[Any]: ...

    def send_all(self, commands: Sequence[bytes]) -> Awaitable[list[Any]]:
        """Send on one connection with nothing in between; one reply for each command."""

    def close(self, why: str) -> None:
        """Drop it; whoever waits for a reply gets `Lost`."""

    async def wait_closed(self) -> None: ...


class Io(Protocol):
    """One of the two ways to reach servers."""

    blocking: bool

    async def connect(self, address: Address, login: Login, abandoned: Sequence[bytes]) -> Link:
        """A link that has been greeted; `Lost` or `StoreError` if that fails."""

    async def sleep(self, seconds: float) -> None: ...

    def lock(self) -> AbstractAsyncContextManager[Any]: ...


def greeting(login: Login, who: tuple[str, ...], abandoned: Sequence[bytes]) -> list[bytes]:
    """The first commands on a connection; `who` is what AUTH takes.

    `abandoned` ends connections that were given up with a command in them. A server that
    was only slow would still carry it out, perhaps after its repetition.
    """
    commands = [
        pack(("CLIENT", "SETNAME", login.client_name)),
        pack(("CLIENT", "INFO")),
        *abandoned,
    ]
    if login.db:
        commands.insert(0, pack(("SELECT", login.db)))
    if who:
        commands.insert(0, pack(("AUTH", *who)))
    return commands


def welcome(
    login: Login, who: tuple[str, ...], replies: Sequence[Any], address: Address
) -> list[bytes]:
    """Check what came back; the commands that end this connection should it be abandoned."""
    needed = bool(who) + bool(login.db)
    for place, reply in enumerate(replies[: needed + 1]):
        if not isinstance(reply, Exception):
            continue
        kind = code(reply)
        if kind in ("LOST", "FULL", "LOADING"):
            raise Lost(address, str(reply), sent=False)
        # A name is no more than a courtesy; a user may be forbidden to give one.
        if place < needed or kind in ("NOAUTH", "DENIED"):
            raise refusal(reply, address)
    return _end_of(replies[needed + 1])


def _end_of(info: Any) -> list[bytes]:
    # Both id and address: after a restart the id alone could be another client's.
    if isinstance(info, ReplyError) or not isinstance(info, bytes):
        return []
    pairs = (field.partition(b"=") for field in info.split())
    fields = {name: value for name, _, value in pairs}
    return [pack(("CLIENT", "KILL", "ID", fields[b"id"], "ADDR", fields[b"addr"]))]


def tune(connection: socket.socket) -> None:
    """Send small commands at once, and notice in a minute that a silent peer is gone."""
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        with suppress(AttributeError, OSError):  # not every system has them
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
