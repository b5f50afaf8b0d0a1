"""Connections on plain sockets, for code that has no event loop.

Nothing here suspends. Each thread takes a connection for the time of one call; nothing
that was inherited through `fork` is used.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from hiredis import HiredisError, Reader

from ...interrupts import obey
from .fault import Lost, reason
from .io import greeting, welcome
from .limits import at_most, is_limited
from .login import Login
from .plug import plug
from .url import Address

_NOTHING: Final = object()
_CHUNK: Final = 65_536


class Wire:
    """One socket, used by one thread at a time. Faults are raised here."""

    def __init__(self, address: Address, connection: socket.socket) -> None:
        self.end: list[bytes] = []
        self._address = address
        self._socket = connection
        self._reader = Reader(notEnoughData=_NOTHING)

    def ask(self, command: bytes) -> Any:
        self._socket.sendall(command)
        return self._next()

    def ask_all(self, commands: Sequence[bytes]) -> list[Any]:
        self._socket.sendall(b"".join(commands))
        return [self._next() for _ in commands]

    def wait_at_most(self, seconds: float) -> None:
        self._socket.settimeout(seconds)

    def close(self) -> None:
        self._socket.close()

    def _next(self) -> Any:
        reader = self._reader
        while (reply := reader.gets()) is _NOTHING:
            data = self._socket.recv(_CHUNK)
            if not data:
                raise Lost(self._address, "it closed the connection", sent=True)
            reader.feed(data)
        return reply


class Pool:
    """A `Link` over as many sockets as threads ask at the same time.

    Any loss ends the whole pool: what broke one connection broke the idle ones most
    likely too, and behind a Sentinel the master may be another by now. Calls that are
    under way in other threads are not disturbed.
    """

    heard = True

    def __init__(self, address: Address, login: Login) -> None:
        self.address = address
        self.lost: str | None = None
        self.abandoned: list[bytes] = []
        self._login = login
        self._idle: list[Wire] = []
        self._room = threading.BoundedSemaphore(login.connections)
        self._pid = os.getpid()

    @property
    def alive(self) -> bool:
        return self.lost is None and self._pid == os.getpid()

    async def send(self, command: bytes) -> Any:
        return self._call(Wire.ask, command)

    async def send_all(self, commands: Sequence[bytes]) -> list[Any]:
        replies: Any = self._call(Wire.ask_all, commands)
        return [replies] * len(commands) if isinstance(replies, Lost) else replies

    def close(self, why: str) -> None:
        if self.lost is None:
            self.lost = why
        while self._idle:
            _pop(self._idle)

    async def wait_closed(self) -> None:
        pass

    def connect(self, abandoned: Sequence[bytes]) -> None:
        """Open the first connection."""
        self._give_back(self._open(abandoned))

    def _call(self, ask: Any, command: Any) -> Any:
        if not self._room.acquire(timeout=at_most(self._login.timeout)):
            why = f"all of its {self._login.connections} connections are in use"
            return Lost(self.address, why, sent=False)
        try:
            return self._call_alone(ask, command)
        finally:
            self._room.release()

    def _call_alone(self, ask: Any, command: Any) -> Any:
        try:
            wire = self._take()
        except Lost as lost:
            self.close(lost.reason)
            return lost
        try:
            if is_limited():
                wire.wait_at_most(at_most(self._login.timeout))
            reply = ask(wire, command)
            if is_limited():
                wire.wait_at_most(self._login.timeout)
        except (Lost, OSError, HiredisError) as error:
            wire.close()
            self.abandoned += wire.end
            why = "no reply in time" if isinstance(error, TimeoutError) else reason(error)
            self.close(why)
            return Lost(self.address, why, sent=True)
        except BaseException:
            # Ctrl-C: the reply is still to come, and would be taken for the next call's.
            wire.close()
            raise
        self._give_back(wire)
        return reply

    def _take(self) -> Wire:
        if not self.alive:
            raise Lost(self.address, self.lost or "this process was forked", sent=False)
        try:
            return self._idle.pop()
        except IndexError:
            return self._open(())

    def _give_back(self, wire: Wire) -> None:
        if self.lost is not None or len(self._idle) >= self._login.connections:
            wire.close()
        else:
            self._idle.append(wire)
            if self.lost is not None:  # another thread closed the pool just now
                self.close(self.lost)

    def _open(self, abandoned: Sequence[bytes]) -> Wire:
        login = self._login
        wire = Wire(self.address, plug(self.address, login))
        try:
            wire.wait_at_most(at_most(login.timeout))
            who = login.who()
            replies = wire.ask_all(greeting(login, who, abandoned))
            wire.end = welcome(login, who, replies, self.address)
            wire.wait_at_most(login.timeout)
        except OSError as error:
            wire.close()
            raise Lost(self.address, reason(error), sent=False) from None
        except BaseException as error:
            wire.close()
            if isinstance(error, Lost):
                error.sent = False
            raise
        return wire


def _pop(idle: list[Wire]) -> None:
    try:
        idle.pop().close()
    except IndexError:  # another thread was quicker
        return


class _ThreadLock:
    """A thread's lock in the clothes of an asyncio one."""

    def __init__(self) -> None:
        # Reentrant: Ctrl-C may keep its thread from giving it back.
        self._lock = threading.RLock()

    async def __aenter__(self) -> None:
        self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()


class BlockingIo:
    """`Io` that blocks the calling thread."""

    blocking = True

    async def connect(self, address: Address, login: Login, abandoned: Sequence[bytes]) -> Pool:
        pool = Pool(address, login)
        pool.connect(abandoned)
        return pool

    async def sleep(self, seconds: float) -> None:
        obey()
        time.sleep(seconds)  # noqa: ASYNC251 - to block is what it is for

    def lock(self) -> AbstractAsyncContextManager[Any]:
        return _ThreadLock()
