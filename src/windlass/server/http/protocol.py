"""HTTP/1.1 of one connection, with bounds on what a client may do.

A request is read when the one before it was answered: whatever follows stays as it came, and the
client is read no further. So a connection costs no more than one head, one piece of a body and one
piece of what follows, however much is sent.
"""

from __future__ import annotations

from typing import Any, Final

from ..faults import Fault, TooMany, fault_of
from .connections import Connections, Waiting, address_pair
from .exchange import Exchange
from .head import GARBLED, LARGE
from .messages import Scope
from .pipe import Pipe
from .problem import raw_answer
from .reader import END, MOST_HEADERS, Broken, Reader

CROWDED: Final = fault_of(TooMany("The server has all the connections that it takes; try later."))

HEADER_COST: Final = 160
"""Bytes of memory for a header, besides its text."""
SMALL_HEAD: Final = 1024
"""Heads up to this size are not accounted for."""
BODY_COST: Final = 12 * 1024
"""Bytes of memory for one who waits for the body of a stranger."""
UNREAD: Final = 64 * 1024
"""Bytes of a body that are read ahead of the one who asks for it."""
DROPPED: Final = 256 * 1024
"""Bytes that a client may still send after its last answer."""
ASGI: Final = {"version": "3.0", "spec_version": "2.3"}


class Connection(Pipe):
    """Reads requests one by one, and lets each be answered before it reads the next."""

    __slots__ = (
        "_among",
        "_at",
        "_base",
        "_cost",
        "_dropped",
        "_exchange",
        "_is_half",
        "_is_tls",
        "_proxies",
        "_reader",
        "_rest",
        "held",
    )

    _base: Scope

    def __init__(self, shared: Connections) -> None:
        super().__init__(shared)
        self.held = 0
        """bytes that are accounted for"""
        self._reader = Reader()
        self._exchange: Exchange | None = None
        self._among: Waiting | None = None
        self._dropped = 0
        # What is not parsed yet.
        self._rest = bytearray()
        self._at = 0
        self._cost = 0
        # The transport.
        self._proxies: Any = None
        self._is_tls = self._is_half = False

    # What asyncio calls.

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        shared = self.shared
        self._is_tls = transport.get_extra_info("ssl_object") is not None
        # With TLS it was let in before it shook hands.
        if not self._is_tls and not shared.make_room():
            self._is_over = True
            transport.write(raw_answer(CROWDED))
            transport.close()
            return
        shared.open.add(self)
        shared.strangers.add(self)
        client = address_pair(transport.get_extra_info("peername"))
        if client is not None and client[0] in shared.proxies:
            self._proxies = shared.proxies
        self._base = {
            "type": "http",
            "asgi": ASGI,
            "scheme": shared.scheme,
            "server": address_pair(transport.get_extra_info("sockname")),
            "client": client,
            "root_path": shared.settings.root_path,
        }
        self._wait(shared.heads)

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_over = True
        self._wait(None)
        self._forget_reader()
        self._leave()
        self._drop()
        self._let_on()

    def get_buffer(self, sizehint: int) -> memoryview:
        # In a body that nobody has asked for each byte can cost as much as a request.
        is_little = self._reader.in_body and self.is_stranger
        return self.shared.room(is_little=is_little)

    def buffer_updated(self, nbytes: int) -> None:
        if self._is_over:
            self._dropped += nbytes
            if self._dropped > DROPPED:
                self.cut()
            return
        buffer = self.shared.buffer
        if self._rest or (self._exchange is not None and not self._reader.in_body):
            self._keep(memoryview(buffer)[:nbytes])
        else:
            used = self._parse(buffer, 0, nbytes)
            if used < nbytes:
                self._keep(memoryview(buffer)[used:nbytes])
        self._settle()

    def eof_received(self) -> bool:
        exchange = self._exchange
        self._is_half = True
        if self._is_over or self._is_tls:
            return False
        if exchange is None:
            return bool(self._rest)
        exchange.leave()
        return not self._reader.in_body

    def pause_writing(self) -> None:
        super().pause_writing()
        self._account()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._account()
        if self._rest and self._exchange is None:
            self.shared.queue(self)

    # What an exchange calls.

    def admit(self) -> None:
        """A request was let in."""
        self.shared.strangers.discard(self)

    def read_on(self) -> None:
        """Somebody waits for the body, or for the client to leave."""
        if not self._rest:
            self._resume()
        self._account()

    def answered(self, exchange: Exchange) -> None:
        """Go on behind an answer."""
        self._exchange = None
        self._cost = 0
        if self._is_over:
            # It was cut while the answer was written.
            return
        if not exchange.is_kept:
            self.end()
        elif self._reader.in_body:
            # Nobody wants the rest of it; but it is in the way of the next request.
            self._dropped = 0
            self._wait(self.shared.heads)
            self._resume()
        elif self._rest:
            self.shared.queue(self)
        elif self._is_half:
            self.end()
        else:
            self._wait(self._idle)
            self._resume()
        self._account()

    def end(self, *, is_sending: bool = False) -> None:
        """Close, when what was written is sent. A client that still sends may read it first."""
        if self._is_over:
            return
        is_quiet = not self._reader.in_body and not self._rest and not self._reader.size
        self._is_over = True
        self._drop()
        if self._transport.is_closing():
            return
        if (is_quiet and not is_sending) or self._is_tls or self._is_half:
            self._wait(None)
            self._transport.close()
            if self._transport.get_write_buffer_size():
                self._expect_reader()
            return
        self._dropped = 0
        self._wait(self.shared.ending)
        try:
            self._transport.write_eof()
        except OSError:
            # The client is gone, which nobody has told us yet.
            self.cut()
            return
        self._resume()

    # What all connections are told.

    @property
    def is_stranger(self) -> bool:
        """Whether no request was let in yet."""
        return self in self.shared.strangers

    @property
    def is_partial(self) -> bool:
        """Whether all that is held is of requests that are not complete, or of a stranger."""
        return self.held > 0 and (self._exchange is None or self.is_stranger)

    def go_on(self) -> None:
        """Take the next request of what is held."""
        if self._is_over or self._exchange is not None or self.is_stalled:
            return
        rest = self._rest
        self._at = self._parse(rest, self._at, len(rest))
        if self._at >= len(rest):
            self._rest, self._at = bytearray(), 0
        self._settle()

    def give_up(self) -> None:
        """What was waited for has not come."""
        self._among = None
        if self._is_over and self._transport.get_write_buffer_size():
            self._expect_reader()
        else:
            self.cut()

    def cut(self) -> None:
        """End without a word."""
        self._is_over = True
        self._wait(None)
        self._leave()
        self._drop()
        self._transport.abort()

    def shut_down(self) -> None:
        """Let the answer that is under way be the last one."""
        if self._exchange is None:
            self.end()
        else:
            self._exchange.is_kept = False

    # Requests.

    def _parse(self, data: bytearray, at: int, end: int) -> int:
        """Read on, up to the end of a request; where that is."""
        reader = self._reader
        with memoryview(data) as view:
            while at < end and not self._is_over and (self._exchange is None or reader.in_body):
                was_in_body = reader.in_body
                try:
                    at = reader.read(data, view, at, end)
                except Broken:
                    self._refuse(GARBLED)
                    break
                if was_in_body:
                    self._follow_body()
                elif reader.has_head:
                    self._open()
                elif self._is_large(reader.size, len(reader.headers)):
                    self._refuse(LARGE)
        return end if self._is_over else at

    def _is_large(self, size: int, headers: int) -> bool:
        return size > self.shared.settings.max_headers or headers > MOST_HEADERS

    def _open(self) -> None:
        """A head is complete: let it be answered."""
        reader = self._reader
        size, number = reader.size, len(reader.headers)
        head = reader.begin(self._base, self._proxies)
        if self._is_large(size, number):
            is_head = not isinstance(head, Fault) and head.scope["method"] == "HEAD"
            self._refuse(LARGE, is_mute=is_head)
            return
        if isinstance(head, Fault):
            self._refuse(head)
            return
        if size > SMALL_HEAD:
            self._cost = size + HEADER_COST * number
        self._exchange = exchange = Exchange(self, head, is_whole=not reader.in_body)
        self._wait(None)
        self.shared.start(exchange)

    def _follow_body(self) -> None:
        """Hand on what has come of the body."""
        reader, exchange = self._reader, self._exchange
        data = reader.take()
        if exchange is not None:
            exchange.add(data, is_last=not reader.in_body)
        if not reader.in_body:
            return
        settings = self.shared.settings
        if reader.overhead > settings.max_headers:
            self._refuse(GARBLED)
        elif exchange is None:
            self._dropped += len(data)
            if self._dropped > settings.max_body:
                self.cut()
        elif exchange.unread > (UNREAD if exchange.is_asked else 0):
            self._pause()

    # What is held, and waiting.

    @property
    def _idle(self) -> Waiting:
        return self.shared.idle if self.is_stranger else self.shared.kept

    def _leave(self) -> None:
        self.shared.open.discard(self)
        self.shared.strangers.discard(self)

    def _keep(self, data: memoryview) -> None:
        """Hold what came before its turn, and read no more than that."""
        before = max(len(self._rest) - 3, self._at)
        self._rest += data
        if self._rest.find(END, before) >= 0 or self.shared.is_tight:
            self._pause()
        elif len(self._rest) - self._at > self.shared.settings.max_headers:
            self.cut()

    def _settle(self) -> None:
        """See what is waited for, once all is parsed that can be."""
        if self._is_over:
            return
        if self._exchange is None:
            if self._rest:
                self.shared.queue(self)
            elif self._is_half:
                self.end()
                return
            else:
                is_between = not self._reader.size and not self._reader.in_body
                self._wait(self._idle if is_between else self.shared.heads)
                self._resume()
        self._account()

    def _wait(self, among: Waiting | None) -> None:
        before = self._among
        if before is not among:
            if before is not None:
                before.discard(self)
            self._among = among
            if among is not None:
                among.add(self)

    def _account(self) -> None:
        held = len(self._rest) - self._at + self._cost
        if self._reader.size:
            held += self._reader.size + HEADER_COST * len(self._reader.headers)
        exchange = self._exchange
        if exchange is not None and not exchange.is_asked:
            held += exchange.unread
        elif exchange is not None and not exchange.is_whole and self.is_stranger:
            held += exchange.unread + BODY_COST
        if self.is_stalled and self.is_stranger:
            held += self.unsent
        if held != self.held:
            more, self.held = held - self.held, held
            self.shared.hold(more)

    def _drop(self) -> None:
        """Let go of everything."""
        self._reader.close()
        self._rest, self._at, self._cost = bytearray(), 0, 0
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.lose()
        self._account()

    def _refuse(self, fault: Fault, *, is_mute: bool = False) -> None:
        """Answer, if nothing else is being sent, and close."""
        exchange = self._exchange
        if not exchange.status if exchange is not None else not self._reader.in_body:
            answer = raw_answer(fault)
            self.write(answer.partition(END)[0] + END if is_mute else answer)
        self.end(is_sending=True)
