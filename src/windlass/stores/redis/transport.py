"""Commands and scripts to the right server, repeated until they get an answer.

Clients that repeat by themselves do not tell the script; here its ARGV[1] is "1" as soon
as an earlier sending may have been carried out, and "0" before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Final, Protocol

from ...errors import StoreError
from .blocking import BlockingIo
from .cluster import ClusterRoute
from .connection import AsyncIo
from .effort import Call, Effort
from .io import Io, Word, pack
from .listener import Listener
from .proof import Proof
from .route import Master, Route, login_of
from .scripts import Script
from .sentinel import SentinelRoute
from .url import Settings


class Transport(Protocol):
    """What the store needs of Redis. Replies are bytes, int, None and lists of these."""

    blocking: bool
    """Whether no method suspends; only a transport that does can listen."""

    async def open(self) -> None:
        """Connect and find out who is master."""

    async def close(self) -> None:
        """Drop every connection. Closing twice is allowed; calls then raise `StoreError`."""

    async def run(
        self,
        slot: int,
        script: Script,
        keys: Sequence[str | bytes],
        args: Sequence[Word],
        *,
        again: bool = False,
    ) -> Any:
        """Run a script on the master of a slot; its ARGV is "0" or "1" (repeated), then `args`.

        `again` says that a former call, which failed, was this very one.
        """

    async def send(self, slot: int | None, *words: Word) -> Any:
        """One command to the master of a slot, None being any. It may be carried out twice."""

    async def everywhere(self, *words: Word) -> list[Any]:
        """One command to each master."""

    def listen(self, channel: str, heard: Callable[[bytes | None], None]) -> Listener:
        """Call `heard` with each message of a channel, and with None when some may be missed."""


class RoutedTransport:
    """A `Transport` over any route."""

    def __init__(self, io: Io, route: Callable[[Io, Settings], Route], settings: Settings) -> None:
        self.blocking = io.blocking
        self._io = io
        self._make_route = route
        self._route = route(io, settings)
        self._settings = settings

    async def open(self) -> None:
        if self._route.closed:
            self._route = self._make_route(self._io, self._settings)
        try:
            await self.send(None, "PING")
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        self._route.close()
        for link in list(self._route.links()):
            link.close("the store was closed")
            await link.wait_closed()

    async def run(
        self,
        slot: int,
        script: Script,
        keys: Sequence[str | bytes],
        args: Sequence[Word],
        *,
        again: bool = False,
    ) -> Any:
        # Every job passes here: nothing but the call itself; all that can go wrong is Effort's.
        started = monotonic()
        link = self._route.ready(slot)
        reply: Any = None
        if link is not None:
            flag = b"1" if again else b"0"
            reply = await link.send(pack((b"EVALSHA", script.sha, len(keys), *keys, flag, *args)))
            if not isinstance(reply, Exception):
                return reply
        call = Call(slot, (b"EVALSHA", script.sha, len(keys), *keys), script, tuple(args), again)
        return await self._effort(call, started).succeed(link, reply)

    async def send(self, slot: int | None, *words: Word) -> Any:
        return await self._effort(Call(slot, words), monotonic()).succeed(None, None)

    async def everywhere(self, *words: Word) -> list[Any]:
        await self.send(None, "PING")  # finds the masters, with patience
        return [await self.send(slot, *words) for slot in self._route.spread()]

    def listen(self, channel: str, heard: Callable[[bytes | None], None]) -> Listener:
        if not isinstance(self._io, AsyncIo):
            raise StoreError("A blocking store cannot listen; open one without blocking=True.")
        return Listener(self._io, self._route, login_of(self._settings), channel, heard)

    def _effort(self, call: Call, started: float, proof: Proof | None = None) -> Effort:
        return Effort(self._io, self._route, call, self._settings.patience, started, proof)


WRITES: Final = frozenset({"HSET", "HDEL", "DEL", "SET"})
"""Plain commands that write what somebody was promised: not the version of a new namespace."""


class ProvedTransport(RoutedTransport):
    """One whose scripts and writes are answered once replicas have what the answer rests on."""

    async def run(
        self,
        slot: int,
        script: Script,
        keys: Sequence[str | bytes],
        args: Sequence[Word],
        *,
        again: bool = False,
    ) -> Any:
        call = Call(slot, (b"EVALSHA", script.sha, len(keys), *keys), script, tuple(args), again)
        proof = Proof(self._settings.replicas)
        return await self._effort(call, monotonic(), proof).succeed(None, None)

    async def send(self, slot: int | None, *words: Word) -> Any:
        if words[0] not in WRITES:
            return await super().send(slot, *words)
        proof = Proof(self._settings.replicas)
        return await self._effort(Call(slot, words), monotonic(), proof).succeed(None, None)


def open_transport(settings: Settings, blocking: bool) -> Transport:
    """The transport that settings ask for, not connected yet."""
    io: Io = BlockingIo() if blocking else AsyncIo()
    kind = ProvedTransport if settings.replicas else RoutedTransport
    return kind(io, _ROUTES[settings.topology], settings)


_ROUTES: dict[str, Callable[[Io, Settings], Route]] = {
    "single": lambda io, settings: Master(io, login_of(settings), settings.addresses[0]),
    "sentinel": SentinelRoute,
    "cluster": ClusterRoute,
}
