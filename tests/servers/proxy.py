"""A bad network, on request: a TCP proxy that loses, delays and refuses.

It runs in a thread of its own. Every order to it has taken effect when the call returns.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.servers.ports import free_port

_CHUNK = 1 << 16

Edit = Callable[[bytes], bytes]


@dataclass
class Counts:
    """What went through. A chunk is what one read gave: it may hold several messages."""

    connections: int = 0
    requests: int = 0
    replies: int = 0
    dropped: int = 0


class _Link:
    """One client's connection and the one behind it; both end together."""

    def __init__(self, client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.client, self.server = client, server
        self.asked = b""
        self.flows = asyncio.Event()
        self.flows.set()

    def cut(self) -> None:
        self.flows.set()
        self.client.transport.abort()
        self.server.transport.abort()


class Proxy:
    """In front of the port `target`, on the port `port`."""

    def __init__(self, target: int, loop: asyncio.AbstractEventLoop, greet: Edit) -> None:
        self.target, self.port = target, free_port()
        self._greet = greet
        self._behind = target
        self.counts = Counts()
        self._loop = loop
        self._tasks: set[asyncio.Task[None]] = set()
        self._links: set[_Link] = set()
        self._flows = asyncio.Event()
        self._to_drop, self._after, self._to_skip = 0, b"", 0
        self._listener: asyncio.Server | None = None
        self._is_over = False

    def through(self, url: str) -> str:
        """The URL of the server behind, changed so that it leads through this proxy."""
        parts = urlsplit(url)
        host = parts.netloc.replace(f":{self.target}", f":{self.port}")
        return parts._replace(netloc=host).geturl()

    def drop_replies(self, count: int, after: bytes = b"", *, skip: int = 0) -> None:
        """Lose the next `count` replies, each with its connection; requests do get through.

        `after` limits it to replies to requests that contain these bytes: a connection
        that listens for messages gets chunks as well. The first `skip` of them do arrive.
        """
        self._order(self._set_drops(count, after, skip))

    def lead(self, target: int) -> None:
        """Lead to another port from now on, as an address does that follows the primary."""
        self._order(self._lead(target))

    def cut(self) -> None:
        """End every connection, without a word. New ones are accepted."""
        self._order(self._cut())

    def refuse(self) -> None:
        """Refuse new connections; those there are stay."""
        self._order(self._refuse())

    def accept(self) -> None:
        """Accept connections again."""
        self._order(self._accept())

    def silence(self) -> None:
        """Keep connections open, take new ones, and let nothing through; it is kept."""
        self._order(self._set_flow(False))

    def resume(self) -> None:
        """Deliver what was kept, and everything from now on."""
        self._order(self._set_flow(True))

    def strand(self) -> None:
        """Leave the connections there are open and dead for good; new ones work.

        So it looks when a firewall has forgotten them.
        """
        self._order(self._strand())

    def end(self) -> None:
        """Cut and refuse for good."""
        self._order(self._end())

    def _order(self, action: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(action, self._loop).result()

    # -- in the thread -------------------------------------------------------------------

    async def _set_drops(self, count: int, after: bytes, skip: int) -> None:
        self._to_drop, self._after, self._to_skip = count, after, skip

    async def _lead(self, target: int) -> None:
        self._behind = target
        await self._cut()

    async def _set_flow(self, flows: bool) -> None:
        (self._flows.set if flows else self._flows.clear)()

    async def _cut(self) -> None:
        for link in self._links:
            link.cut()

    async def _strand(self) -> None:
        for link in self._links:
            link.flows.clear()

    async def _refuse(self) -> None:
        if self._listener is not None:
            # A connection that is just being taken would fail at a listener that is closed, and
            # its socket would stay open.
            for each in self._listener.sockets:
                self._loop.remove_reader(each.fileno())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self._listener.close()
            self._listener = None

    async def _accept(self) -> None:
        if self._listener is None:
            self._listener = await asyncio.start_server(self._welcome, "127.0.0.1", self.port)

    async def _end(self) -> None:
        await self._refuse()
        self._is_over = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # For connections that were accepted just before, and for those that were hung up on.
        for _ in range(3):
            await asyncio.sleep(0)

    def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_over:
            writer.transport.abort()
            return
        self.counts.connections += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # Not at the end of the coroutine: cancelled before its first step, it has none.
        task.add_done_callback(lambda _: writer.transport.abort())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._flows.wait()
        # A server that is down looks from here like one that hangs up at once.
        with suppress(OSError):
            behind, server = await asyncio.open_connection("127.0.0.1", self._behind)
            await self._forward(reader, behind, _Link(writer, server))

    async def _forward(
        self, reader: asyncio.StreamReader, behind: asyncio.StreamReader, link: _Link
    ) -> None:
        self._links.add(link)
        try:
            await asyncio.gather(self._requests(reader, link), self._replies(behind, link))
        finally:
            self._links.discard(link)
            link.cut()

    async def _requests(self, reader: asyncio.StreamReader, link: _Link) -> None:
        while chunk := await self._chunk(reader, link):
            self.counts.requests += 1
            link.asked = chunk
            link.server.write(chunk)
        link.cut()

    async def _replies(self, reader: asyncio.StreamReader, link: _Link) -> None:
        edit = self._greet
        while chunk := await self._chunk(reader, link):
            chunk, edit = edit(chunk), _as_it_is
            if self._to_drop and self._after in link.asked:
                if not self._to_skip:
                    self._to_drop -= 1
                    self.counts.dropped += 1
                    break
                self._to_skip -= 1
            self.counts.replies += 1
            link.client.write(chunk)
        link.cut()

    async def _chunk(self, reader: asyncio.StreamReader, link: _Link) -> bytes:
        """What comes next, or nothing at the end; neither while the network is silent."""
        chunk = b""
        with suppress(OSError):
            chunk = await reader.read(_CHUNK)
        await self._flows.wait()
        await link.flows.wait()
        return chunk


def _as_it_is(chunk: bytes) -> bytes:
    return chunk


@contextmanager
def forward(target: int, greet: Edit = _as_it_is) -> Iterator[Proxy]:
    """A proxy in front of a port of this machine, gone with all its connections afterwards.

    `greet` changes the first thing that the server says on each connection.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="proxy", daemon=True)
    thread.start()
    proxy = Proxy(target, loop, greet)
    try:
        proxy.accept()
        proxy.resume()
        yield proxy
    finally:
        proxy.end()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
