"""One connection on asyncio, shared by all callers.

Commands go out as they come, replies come back in the same order: callers that ask at the
same time share round trips without knowing of each other.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, TypeVar, cast

from hiredis import HiredisError, Reader

from ...errors import StoreError
from .dial import dial
from .fault import Lost, reason, refusal
from .io import greeting, pack, tune, welcome
from .login import Login
from .url import Address

_NOTHING: Final = object()


class Connection(asyncio.Protocol):
    """A `Link` on asyncio; see there.

    A caller that is cancelled leaves its future in the line, done, so the replies to
    those behind it stay theirs.
    """

    def __init__(self, address: Address, timeout: float) -> None:
        self.address = address
        self.heard = True
        self.abandoned: list[bytes] = []
        self.end: list[bytes] = []
        self.lost: str | None = None
        self._loop = asyncio.get_running_loop()
        self._closed = self._loop.create_future()
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._reader = Reader(notEnoughData=_NOTHING)
        self._transport: asyncio.Transport | None = None
        # One watch for all replies: a timer for each would cost more than the call.
        self._tick = min(1.0, timeout / 5)
        self._most_looks = timeout / self._tick
        self._watch: asyncio.TimerHandle | None = None
        self._oldest: asyncio.Future[Any] | None = None
        self._looks = 0
        self._fed = False
        """whether anything came since the last look: a large answer may take its time"""

    @property
    def alive(self) -> bool:
        return self.lost is None

    def send(self, command: bytes) -> asyncio.Future[Any]:
        future = self._loop.create_future()
        if self.lost is not None:
            future.set_result(Lost(self.address, self.lost, sent=False))
            return future
        self._waiting.append(future)
        self._transport.write(command)  # type: ignore[union-attr]
        if self._watch is None:
            self._oldest, self._looks = future, 0
            self._watch = self._loop.call_later(self._tick, self._look)
        return future

    async def send_all(self, commands: Sequence[bytes]) -> list[Any]:
        first = self.send(b"".join(commands))
        if first.done():
            return [first.result()] * len(commands)
        others = [self._loop.create_future() for _ in commands[1:]]
        self._waiting.extend(others)
        return [await future for future in (first, *others)]

    def close(self, why: str) -> None:
        if self._transport is not None:
            self._transport.abort()
        self._fail(why)

    async def wait_closed(self) -> None:
        await asyncio.shield(self._closed)

    # -- called by the event loop --------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.heard = self._fed = True
        reader = self._reader
        try:
            reader.feed(data)
            while (reply := reader.gets()) is not _NOTHING:
                self.deliver(reply)
        except HiredisError:
            self.close("it sent what is not Redis' protocol")

    def deliver(self, reply: Any) -> None:
        try:
            future = self._waiting.popleft()
        except IndexError:
            raise HiredisError("a reply that nobody asked for") from None
        if not future.done():
            future.set_result(reply)

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(reason(exc) if exc else "it closed the connection")
        if not self._closed.done():
            self._closed.set_result(None)

    def _look(self) -> None:
        """Count how often the same reply was found missing, and nothing of it had come.

        Not by the clock: while the loop stands still, replies wait to be read.
        """
        self._watch = None
        if not self._waiting:
            self._oldest = None
            return
        if self._fed or self._waiting[0] is not self._oldest:
            self._oldest, self._looks, self._fed = self._waiting[0], 0, False
        self._looks += 1
        if self._looks >= self._most_looks:
            self.close(f"no reply within {self._tick * self._most_looks:g} s")
        else:
            self._watch = self._loop.call_later(self._tick, self._look)

    def _fail(self, why: str) -> None:
        if self.lost is not None:
            return
        self.lost = why
        if self._watch is not None:
            self._watch.cancel()
        if self._waiting:
            self.abandoned = self.end
        for future in self._waiting:
            if not future.done():
                future.set_result(Lost(self.address, why, sent=True))
        self._waiting.clear()
        self._oldest = None


class Subscription(Connection):
    """A connection that listens to one channel; `gone` is done once it is lost."""

    def __init__(
        self, address: Address, timeout: float, heard: Callable[[bytes | None], None]
    ) -> None:
        super().__init__(address, timeout)
        self._heard = heard

    @property
    def gone(self) -> asyncio.Future[None]:
        return self._closed

    def deliver(self, reply: Any) -> None:
        if type(reply) is list and reply[0] == b"message":
            self._heard(reply[2])
        else:
            super().deliver(reply)


C = TypeVar("C", bound=Connection)


class AsyncIo:
    """`Io` on the running event loop."""

    blocking = False

    async def connect(
        self, address: Address, login: Login, abandoned: Sequence[bytes]
    ) -> Connection:
        return await _connect(lambda: Connection(address, login.timeout), address, login, abandoned)

    async def subscribe(
        self, address: Address, login: Login, channel: str, heard: Callable[[bytes | None], None]
    ) -> Subscription:
        connected = await _connect(
            lambda: Subscription(address, login.timeout, heard), address, login, ()
        )
        try:
            reply = await connected.send(pack(("SUBSCRIBE", channel)))
        except BaseException:
            connected.close("nobody listens any more")
            raise
        if isinstance(reply, Exception):
            connected.close("it let nobody listen")
            raise reply if isinstance(reply, Lost) else refusal(reply, address)
        return connected

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def lock(self) -> AbstractAsyncContextManager[Any]:
        return asyncio.Lock()


async def _connect(
    make: Callable[[], C], address: Address, login: Login, abandoned: Sequence[bytes]
) -> C:
    try:
        transport, connection = await dial(make, address, login.tls, login.connect_timeout)
    except TimeoutError:
        raise Lost(address, "no answer to the attempt to connect", sent=False) from None
    except ssl.SSLCertVerificationError as error:
        raise untrusted(error, address) from None
    except OSError as error:
        raise Lost(address, reason(error), sent=False) from None
    try:
        if (made := transport.get_extra_info("socket")) is not None:  # else it is lost already
            tune(made)
        # A function of the user's, which may have to ask for a token.
        who = await asyncio.to_thread(login.who) if login.credentials else login.who()
        async with asyncio.timeout(login.timeout):
            replies = await connection.send_all(greeting(login, who, abandoned))
        connection.end = welcome(login, who, replies, address)
    except TimeoutError:
        connection.close("it was too slow")
        raise Lost(address, "no answer to the attempt to connect", sent=False) from None
    except OSError as error:
        connection.close("it was lost at once")
        raise Lost(address, reason(error), sent=False) from None
    except BaseException:
        connection.close("it was not welcome")
        raise
    return connection


def untrusted(error: ssl.SSLCertVerificationError, address: Address) -> StoreError:
    return StoreError(
        f"The certificate of Redis at {address} is not trusted ({error.verify_message}): "
        "name its authority with ca=FILE, or write verify=no to trust anybody."
    )
