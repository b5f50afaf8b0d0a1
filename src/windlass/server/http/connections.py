"""All connections of one server: how many there are, what they cost, and who may go next.

A client needs no key to be connected, so everything here has a bound: the number of connections,
the time that each may wait, and the bytes that all of them hold before somebody was let in.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from time import time
from typing import TYPE_CHECKING, Any, Final
from wsgiref.handlers import format_date_time

from ...config import ServerSettings
from .forwarded import Networks
from .messages import Receive, Scope, Send

if TYPE_CHECKING:
    from .exchange import Exchange
    from .protocol import Connection

App = Callable[[Scope, Receive, Send], Awaitable[None]]

PIECE: Final = 32 * 1024
"""Bytes that are read at a time."""
LITTLE: Final = 2 * 1024
"""So many where a lot is held already: the rest stays with the system, or with the client."""
MOST_HELD: Final = 1024 * 1024
"""Bytes that may be held of requests which nobody has asked for yet."""
MOST_STRANGERS: Final = 1_200
"""Connections of which no request was let in yet. Each takes some 4 KiB, whatever it holds."""
RECENT: Final = 1.0
"""Seconds for which a connection that was just used is not given up for a new one."""
LAST_WORDS: Final = 2.0
"""Seconds for which a client may still send after its last answer."""


class Waiting:
    """Connections that wait for their client, for so many seconds and no longer.

    All wait equally long, so who came first is over first, and one timer does for all.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._since: OrderedDict[Connection, float] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        self._since[connection] = loop.time()
        if self._timer is None:
            self._timer = loop.call_later(self.seconds, self._end_late, loop)

    def discard(self, connection: Connection) -> None:
        self._since.pop(connection, None)

    def longest(self, least: float = 0.0) -> Connection | None:
        """Who waits the longest, if that is at least so long."""
        for connection, since in self._since.items():
            waited = asyncio.get_running_loop().time() - since
            return connection if waited >= least else None
        return None

    def forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_late(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer, now = None, loop.time()
        while self._since:
            connection, since = next(iter(self._since.items()))
            if since + self.seconds > now:
                self._timer = loop.call_at(since + self.seconds, self._end_late, loop)
                return
            del self._since[connection]
            connection.give_up()


class Connections:
    """What the connections of one server share."""

    def __init__(self, app: App, settings: ServerSettings, *, scheme: str) -> None:
        self.app = app
        self.settings = settings
        self.scheme = scheme
        self.proxies = Networks(settings.trusted_proxies)
        self.loop = asyncio.get_running_loop()
        self.open: set[Connection] = set()
        self.strangers: set[Connection] = set()
        """those of which no request was let in yet"""
        self.shaking = 0
        """connections whose TLS handshake is under way"""
        self.tasks: set[asyncio.Task[None]] = set()
        self.heads = Waiting(settings.header_timeout)
        self.idle = Waiting(settings.keep_alive)
        self.kept = Waiting(settings.keep_alive)
        """the same of those who are no strangers"""
        self.ending = Waiting(min(LAST_WORDS, settings.header_timeout))
        self.held = 0
        """bytes of requests which nobody has asked for"""
        # Whatever is read goes through here: the loop hands it over before it reads again.
        self.buffer = bytearray(PIECE)
        self._whole = memoryview(self.buffer)
        self._little = self._whole[:LITTLE]
        self._line: deque[Connection] = deque()
        self._is_going = False
        self._most = MOST_HELD
        """what may be held until the next look at all of them"""
        self._second = 0
        self._date = b""

    @property
    def is_tight(self) -> bool:
        return self.held > MOST_HELD // 2

    @property
    def date(self) -> bytes:
        """The header that says when this is."""
        second = int(time())
        if second != self._second:
            self._second = second
            self._date = b"date: %b\r\n" % format_date_time(second).encode()
        return self._date

    @property
    def unsent(self) -> bool:
        """Whether answers have not gone yet."""
        return any(each.unsent for each in self.open)

    def room(self, *, is_little: bool) -> memoryview:
        """Where to read into."""
        return self._little if is_little or self.held > MOST_HELD // 2 else self._whole

    def make_room(self) -> bool:
        """Whether there is room for one more, be it in the place of one that waits for long."""
        while True:
            is_full = len(self.open) + self.shaking >= self.settings.max_connections
            if not is_full and len(self.strangers) + self.shaking < MOST_STRANGERS:
                return True
            late = self.ending.longest() or self.heads.longest() or self.idle.longest(RECENT)
            if late is None and is_full:
                late = self.kept.longest(RECENT)
            if late is None:
                return False
            late.cut()

    def hold(self, more: int) -> None:
        """Account for bytes that are held, or are no longer."""
        self.held += more
        if self.held > self._most:
            self._evict()
        elif self.held < MOST_HELD:
            self._most = MOST_HELD

    def queue(self, connection: Connection) -> None:
        """Let a connection go on with what it holds, when it is its turn."""
        self._line.append(connection)
        if not self._is_going:
            self._is_going = True
            self.loop.call_soon(self._go)

    def start(self, exchange: Exchange) -> None:
        """Answer a request, in a task, which takes itself off the list."""
        task = exchange.task = self.loop.create_task(exchange.run(self.app))
        self.tasks.add(task)

    def shut_down(self) -> None:
        """Let requests that are under way be the last ones, and end all else."""
        for connection in [*self.open]:
            connection.shut_down()

    def abort(self) -> None:
        for connection in [*self.open]:
            connection.cut()
        for waiting in (self.heads, self.idle, self.kept, self.ending):
            waiting.forget()

    def _go(self) -> None:
        """One in each turn of the loop: who does not pipeline waits for no more than that."""
        line = self._line
        first = line.popleft()
        self._is_going = bool(line)
        if line:
            self.loop.call_soon(self._go)
        first.go_on()

    def _evict(self) -> None:
        """Give up requests that are not complete, the largest first."""
        # Meanwhile each that is cut is accounted for, which is no reason to begin again.
        self._most = self.held
        found = sorted((each for each in self.open if each.is_partial), key=_held, reverse=True)
        for each in found:
            if self.held <= MOST_HELD // 2:
                break
            each.cut()
        # What is answered just now stays: more of it has to come before it is worth another look.
        self._most = max(MOST_HELD, self.held + MOST_HELD // 4)


def _held(connection: Connection) -> int:
    return connection.held


def address_pair(found: Any) -> Sequence[Any] | None:
    """The address and the port of a socket, as ASGI has them."""
    return (found[0], found[1]) if isinstance(found, tuple) and len(found) >= 2 else None
