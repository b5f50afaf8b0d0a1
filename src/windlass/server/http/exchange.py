"""One request and its answer: what ASGI asks for, and a short cut past it.

Most bodies are there before anybody asks for them, and most answers are whole: to wait for the one
and to take the other to pieces is a tenth of what a small request costs. `body` and `answer` do
without; who serves our app otherwise (see `mounted`) has none of it, and needs none.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from ..faults import UNEXPECTED
from .head import Head
from .messages import Message
from .problem import raw_answer

if TYPE_CHECKING:
    from .connections import App
    from .protocol import Connection

log = logging.getLogger("windlass.http")

KEY: Final = "windlass.exchange"
"""Where the scope of a request has it."""
PLAIN_KEY: Final = "windlass.exchange.plain"
"""The same where the short cut is not to be taken."""
CLOSE: Final = b"connection: close\r\n"
GO_ON: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
SMALL: Final = 16 * 1024
"""Up to so many bytes a body is copied, to be sent in one piece with its head."""


def _phrase(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b""


def _line(status: int) -> bytes:
    return b"HTTP/1.1 %d %b\r\n" % (status, _phrase(status))


LINES: Final = {status: _line(status) for status in range(100, 600)}


class Exchange:
    """One request of a connection, from its head to the end of its answer."""

    __slots__ = (
        "_body",
        "_connection",
        "_expects",
        "_has_length",
        "_head",
        "_in_chunks",
        "_is_told",
        "_left",
        "_mute",
        "_news",
        "has_left",
        "is_asked",
        "is_done",
        "is_gone",
        "is_kept",
        "is_whole",
        "scope",
        "status",
        "task",
    )

    task: asyncio.Task[None]

    def __init__(self, connection: Connection, head: Head, *, is_whole: bool) -> None:
        self._connection = connection
        self.scope = head.scope
        self.scope[KEY] = self
        self.is_whole = is_whole
        """whether all of the body has come"""
        self.is_kept = head.is_kept
        """whether the connection goes on afterwards"""
        self.is_asked = False
        """whether somebody asked for the body"""
        self.is_gone = False
        """whether nothing can be answered any more"""
        self.has_left = False
        """whether the client has said that it will say no more"""
        self.is_done = False
        self.status = 0
        """that of the answer, once it has begun"""
        self._expects = head.expects
        self._body = b""
        self._is_told = False
        self._news: asyncio.Event | None = None
        self._head: list[bytes] | None = None
        self._has_length = False
        self._left = 0
        self._in_chunks = False
        self._mute = False

    # What the connection tells.

    @property
    def unread(self) -> int:
        return len(self._body)

    def add(self, data: bytes, *, is_last: bool) -> None:
        """A part of the body has come."""
        if not self.is_done:
            self._body = self._body + data if self._body else data
        self.is_whole = is_last
        self._tell()

    def leave(self) -> None:
        """The client says no more; it may still listen."""
        self.has_left = True
        self._tell()

    def lose(self) -> None:
        """The connection is gone."""
        self.is_gone = True
        self._tell()

    def _tell(self) -> None:
        if self._news is not None:
            self._news.set()

    def admit(self) -> None:
        """Whoever asks was let in."""
        self._connection.admit()

    # The short cut.

    def body(self) -> bytes | None:
        """The body, once and if all of it has come; else it is to be received."""
        if not self.is_whole or self.is_gone:
            return None
        body, self._body = self._body, b""
        self._is_told = self.is_asked = True
        return body

    def answer(self, status: int, headers: bytes, body: bytes) -> bool:
        """Send a whole answer, with headers as they go over the line; or say that it is to be sent.

        To a client that does not read, that is to be cut off, or that is gone.
        """
        connection = self._connection
        if self.is_gone or not self.is_kept or connection.is_stalled or self.status:
            return False
        if self._expects:
            return False
        self.status, self.is_done = status, True
        date = connection.shared.date
        if len(body) < SMALL:
            connection.write(b"".join((LINES[status], date, headers, b"\r\n", body)))
        else:
            connection.write_two(b"".join((LINES[status], date, headers, b"\r\n")), body)
        if self._news is not None:
            self._news.set()
        connection.answered(self)
        return True

    # ASGI.

    async def run(self, app: App) -> None:
        """Let the app answer."""
        try:
            await app(self.scope, self.receive, self.send)
        except Exception as error:
            log.error("the app failed", exc_info=error)
        finally:
            self._connection.shared.tasks.discard(self.task)
            # They hold each other.
            self.scope.pop(KEY, None)
            self.scope.pop(PLAIN_KEY, None)
            if not self.is_done:
                self._give_up()

    def _give_up(self) -> None:
        """End what the app has left without an end: so a client knows that more is missing."""
        if not self.status and not self.is_gone and not self.has_left:
            self._connection.write(raw_answer(UNEXPECTED))
        self.is_gone = True
        self._connection.end()

    async def receive(self) -> Message:
        self.is_asked = True
        while True:
            if self.is_gone or self.is_done:
                return {"type": "http.disconnect"}
            if self._body or (self.is_whole and not self._is_told):
                body, self._body = self._body, b""
                self._is_told = self.is_whole
                return {"type": "http.request", "body": body, "more_body": not self.is_whole}
            if self.has_left:
                return {"type": "http.disconnect"}
            if self._expects:
                self._expects = False
                if not self.is_whole and not self.status:
                    self._connection.write(GO_ON)
            self._connection.read_on()
            if self._news is None:
                self._news = asyncio.Event()
            self._news.clear()
            await self._news.wait()

    async def send(self, message: Message) -> None:
        kind = message["type"]
        if self.is_gone:
            return
        if not self.status:
            if kind != "http.response.start":
                raise RuntimeError(f"An answer begins with http.response.start, not {kind}.")
            self._begin(message["status"], message.get("headers", ()))
        elif kind != "http.response.body" or self.is_done:
            raise RuntimeError(f"This is not the time for {kind}.")
        else:
            self._send(message.get("body", b""), is_last=not message.get("more_body", False))
            if self._connection.is_stalled and not self.is_gone:
                await self._connection.drained()

    def _begin(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self.status = status
        if self._expects and not self.is_whole:
            # Nobody can know whether the client still sends its body.
            self.is_kept = False
        lines = [LINES.get(status) or _line(status), self._connection.shared.date]
        for name, value in headers:
            name = name.lower()
            if b"\n" in value or b"\r" in value or b"\n" in name or b"\r" in name:
                raise RuntimeError(f"The header {name!r} of an answer has more than one line.")
            if name == b"content-length":
                self._has_length, self._left = True, int(value)
            elif name == b"transfer-encoding":
                continue
            elif name == b"connection":
                if value.strip().lower() == b"close":
                    self.is_kept = False
                continue
            elif name == b"date":
                lines[1] = b""
            lines.append(b"%b: %b\r\n" % (name, value))
        self._head = lines
        self._mute = self.scope["method"] == "HEAD" or status < 200 or status in (204, 304)

    def _send(self, data: bytes, *, is_last: bool) -> None:
        connection, head = self._connection, b""
        if self._head is not None:
            head, self._head = self._framed(self._head, len(data), is_last=is_last), None
        data = b"" if self._mute else self._part(bytes(data), is_last=is_last)
        if len(data) < SMALL:
            if head or data:
                connection.write(head + data)
        else:
            connection.write_two(head, data)
        if is_last:
            if self._has_length and self._left and not self._mute:
                # The client waits for more, which never comes: it is to know.
                self.is_kept = False
            self.is_done = True
            self._tell()
            connection.answered(self)

    def _framed(self, lines: list[bytes], size: int, *, is_last: bool) -> bytes:
        """The head, with what says how the body ends."""
        if not self._has_length and not self._mute:
            if is_last:
                lines.append(b"content-length: %d\r\n" % size)
            elif self.scope["http_version"] == "1.1":
                self._in_chunks = True
                lines.append(b"transfer-encoding: chunked\r\n")
            else:
                self.is_kept = False
        if not self.is_kept:
            lines.append(CLOSE)
        lines.append(b"\r\n")
        return b"".join(lines)

    def _part(self, data: bytes, *, is_last: bool) -> bytes:
        if self._in_chunks:
            end = b"0\r\n\r\n" if is_last else b""
            return b"%x\r\n%b\r\n%b" % (len(data), data, end) if data else end
        if self._has_length:
            self._left -= len(data)
            if self._left < 0:
                raise RuntimeError("An answer is longer than its Content-Length says.")
        return data


def exchange_of(scope: Mapping[str, Any]) -> Exchange | None:
    """The short cut of a request, if there is one."""
    found: Exchange | None = scope.get(KEY)
    return found


def admit(scope: Mapping[str, Any]) -> None:
    """Say that the one behind a request was let in: its connection is no stranger."""
    found: Exchange | None = scope.get(KEY) or scope.get(PLAIN_KEY)
    if found is not None:
        found.admit()
