"""Reads one request after the other out of what a client sends, and never beyond one.

The parser is that of httptools, and it alone says what a request is. It has no brake, though: it
would read on through whatever it is given. So it is given bytes up to the next place where a
request can end, and then again.
"""

from __future__ import annotations

from typing import Any, Final

import httptools

from ..faults import Fault
from .forwarded import Header, Networks
from .head import CHUNKED, Head, read_head, resumed
from .messages import Scope

END: Final = b"\r\n\r\n"
"""Where a head ends, and a body in chunks with whatever follows it."""
MOST_HEADERS: Final = 200
OVERHEAD: Final = 8
"""Bytes around chunks that each byte in them may have."""

Broken = httptools.HttpParserError
"""What was read is no request."""


class Reader:
    """The request that is read: first its head, then its body."""

    __slots__ = (
        "_body",
        "_is_ended",
        "_is_kept",
        "_is_offered",
        "_left",
        "_parser",
        "_tail",
        "_url",
        "has_head",
        "headers",
        "in_body",
        "overhead",
        "size",
    )

    def __init__(self) -> None:
        self._parser: Any = httptools.HttpRequestParser(self)
        self._url = b""
        self.headers: list[Header] = []
        self.size = 0
        """bytes of the head, as far as it has come"""
        self.has_head = False
        """whether it has come, and `begin` is to be called"""
        self.in_body = False
        self.overhead = 0
        """bytes that came around a body in chunks, beyond what may be"""
        self._left = 0
        """bytes of the body that are to come, or `CHUNKED`"""
        self._body = b""
        self._is_ended = False
        self._is_offered = False
        self._is_kept = True
        self._tail = b""

    def read(self, data: bytearray, view: memoryview, at: int, end: int) -> int:
        """Read a piece, and say where it ended; `Broken` if that makes no sense."""
        stop = self._stop(data, at, end)
        size = stop - at
        if not self.in_body:
            self.size += size
        elif self._left > 0:
            self._left -= size
        else:
            self.overhead += size
        try:
            self._parser.feed_data(view[at:stop])
        except httptools.HttpParserUpgrade:
            self._is_offered = True
        if self.in_body and self._is_ended:
            self.in_body = self._is_ended = False
            self._tail = b""
        return stop

    def begin(self, base: Scope, proxies: Networks | None) -> Head | Fault:
        """The head that has come; the body comes next, if there is any."""
        url, headers = self._url, self.headers
        self._url, self.headers = b"", []
        self.size, self.has_head = 0, False
        head = read_head(self._parser, url, headers, base, proxies, is_kept=self._is_kept)
        if not isinstance(head, Fault):
            self.in_body = not self._is_ended
            self._left, self.overhead = head.length, 0
            if self._is_offered:
                self._go_on(head.length)
        self._is_ended = False
        return head

    def take(self) -> bytes:
        """What has come of the body since this was asked."""
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        """Let go of everything: the parser and this hold each other."""
        self._parser = None
        self._url = self._body = b""
        self.headers = []
        self.size = 0

    def _go_on(self, length: int) -> None:
        """Leave an offer of another protocol unanswered, as one may.

        The parser takes what follows an offer for that protocol: another one reads the body.
        """
        self._is_offered = False
        self._parser = httptools.HttpRequestParser(self)
        self.in_body = bool(length)
        if length:
            self._parser.feed_data(resumed(length))
            self._url, self.headers, self.has_head = b"", [], False

    def _stop(self, data: bytearray, at: int, end: int) -> int:
        """Up to where the parser may read without reaching the next request."""
        if self.in_body and self._left != CHUNKED:
            return min(end, at + self._left)
        if self._tail:
            # The end may have come in two pieces.
            found = (self._tail + data[at : min(at + 3, end)]).find(END)
            if found >= 0:
                stop = at + found + len(END) - len(self._tail)
                self._tail = b""
                return stop
        found = data.find(END, at, end)
        if found >= 0:
            self._tail = b""
            return found + len(END)
        self._tail = (self._tail + data[max(at, end - 3) : end])[-3:]
        return end

    # What the parser calls.

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        # Behind a body they would be trailers: what has checked the head has not seen them.
        # One more than there may be is kept, to tell that there were too many.
        if not self.in_body and len(self.headers) <= MOST_HEADERS:
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.has_head = True
        # Behind a request without a body, the parser no longer knows.
        self._is_kept = self._parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        if self._left == CHUNKED:
            self.overhead -= (OVERHEAD + 1) * len(data)
        self._body = self._body + data if self._body else data

    def on_message_complete(self) -> None:
        self._is_ended = True
