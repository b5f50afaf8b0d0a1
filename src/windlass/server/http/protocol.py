"""HTTP/1.1 as uvicorn reads it, with bounds on what a client may do.

Uvicorn waits for ever: for the head of a request, for the rest of a body that nobody wants, for a
client to read its answer. It takes a head of any size, and once there are too many connections it
refuses those that it has as well.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ...config import ServerSettings
from ..faults import Fault, HeadTooLarge, Malformed, TooMany, fault_of
from .answer import CLOSE, Send, send_problem
from .body import Receive
from .call import Scope
from .direct import KEY, Direct
from .joined import Joined
from .problem import raw_answer

LARGE: Final = fault_of(HeadTooLarge("The head of the request is larger than this server takes."))
GARBLED: Final = fault_of(Malformed("This is not a request of HTTP/1.1."))
CROWDED: Final = fault_of(TooMany("The server has all the connections that it takes; try later."))


class Bounded(HttpToolsProtocol):
    """Ends a connection on which nothing goes on that it should wait for."""

    settings: ClassVar[ServerSettings]
    _timer: asyncio.TimerHandle | None = None
    """for what is to come from the client"""
    _stall: asyncio.TimerHandle | None = None
    """for what the client is to read"""
    _unread = 0
    _in_head = False
    _heads = 0
    """how many were complete"""
    _head = 0
    """bytes of the one that is not"""
    _is_large = False
    """whether the next head to be complete may have too much"""

    def connection_made(self, transport: Any) -> None:
        self._joined = Joined(transport, self.loop)
        super().connection_made(self._joined)  # type: ignore[arg-type]
        # Uvicorn's own, to a logger that others may have set up, has whole addresses in it.
        self.access_log = False
        if len(self.connections) > self.settings.max_connections:
            self._end(CROWDED)
        else:
            self._expect_head()

    def data_received(self, data: bytes) -> None:
        heads, most = self._heads, self.settings.max_headers
        self._is_large = self._head + len(data) > most
        super().data_received(data)
        if self._heads == heads and self._in_head:
            self._head += len(data)
            if self._head > most:
                self._end(LARGE)
        if self._timer is None and (self._in_head or self._answered):
            # After the parser: a head that came whole, as most do, needs no timer.
            self._expect_head()

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head, self._head = False, 0
        self._heads += 1
        self._forget()
        if self._is_large and self._size > self.settings.max_headers:
            self.app = refuse_head
        super().on_headers_complete()
        self.app = self.config.loaded_app
        if self.cycle is not None:
            # Its task has been made and runs later, so it will find this.
            self.scope[KEY] = Direct(self.cycle, self._joined)  # type: ignore[typeddict-unknown-key]

    def send_400_response(self, msg: str) -> None:
        self._end(GARBLED)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._forget_reader()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        self._forget_reader()
        super().connection_lost(exc)

    @property
    def _answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    @property
    def _size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    @property
    def _may_answer(self) -> bool:
        """Whether nothing else is to be sent, or being sent: else a client would mix them up."""
        begun = self._in_head or self.pipeline or (self.cycle and self.cycle.response_started)
        return self._answered or not begun

    def _end(self, fault: Fault) -> None:
        if not self.transport.is_closing():
            if self._may_answer:
                self.transport.write(raw_answer(fault))
            self.transport.close()

    def _expect_head(self) -> None:
        self._timer = self.loop.call_later(self.settings.header_timeout, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        self.transport.close()

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expect_reader(self) -> None:
        self._forget_reader()
        self._unread = self.transport.get_write_buffer_size()
        self._stall = self.loop.call_later(self.settings.body_timeout, self._check_reader)

    def _check_reader(self) -> None:
        if self.transport.get_write_buffer_size() < self._unread:
            self._expect_reader()
        else:
            self.transport.abort()

    def _forget_reader(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None


async def refuse_head(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers instead of the API where a head is too large."""
    await send_problem(send, LARGE, scope["method"], CLOSE)


def bounded(settings: ServerSettings) -> type[Bounded]:
    """The protocol with the bounds of these settings: uvicorn makes one for each connection."""
    return type("Bounded", (Bounded,), {"settings": settings})
