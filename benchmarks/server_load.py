"""A client that keeps a server busy: one request after the other on each of its connections.

It sends bytes that were made ready, and reads of an answer only how long it is, so that the
server is what is measured. It runs in a process of its own.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, NamedTuple

import uvloop

from .startup import used

WARM_UP = 0.5
END = b"\r\n\r\n"
LENGTH = b"\r\ncontent-length: "


class Target(NamedTuple):
    """What is asked, of whom: `pid` is that of the server."""

    port: int
    pid: int
    request: bytes
    status: bytes = b"201"


class Answered(NamedTuple):
    """Requests in a second, and microseconds of processor time of the server for each."""

    rate: float
    cost: float


def post(path: str, body: bytes, key: str = "") -> bytes:
    """A request as it goes over the line."""
    return _request("POST", path, key, body, "Content-Type: application/json\r\n")


def get(path: str, key: str = "") -> bytes:
    return _request("GET", path, key)


def _request(method: str, path: str, key: str, body: bytes = b"", more: str = "") -> bytes:
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\n"
        f"User-Agent: windlass-benchmarks\r\n{more}"
    )
    head += f"X-API-Key: {key}\r\n" if key else ""
    head += f"Content-Length: {len(body)}\r\n" if body else ""
    return head.encode() + b"\r\n" + body


def load(target: Target, seconds: float, connections: int) -> Answered:
    """Keep a server busy for so long."""
    return uvloop.run(_load(target, seconds, connections))


async def _load(target: Target, seconds: float, connections: int) -> Answered:
    loop = asyncio.get_running_loop()
    made = [Connection(target) for _ in range(connections)]
    for each in made:
        await loop.create_connection(lambda each=each: each, "127.0.0.1", target.port)  # type: ignore[misc]
    await asyncio.sleep(WARM_UP)
    before, cpu, began = _answers(made), used(target.pid), time.perf_counter()
    await asyncio.sleep(seconds)
    number, took = _answers(made) - before, time.perf_counter() - began
    cpu = used(target.pid) - cpu
    for each in made:
        await each.close()
    return Answered(number / took, 1e6 * cpu / max(number, 1))


def _answers(connections: list[Connection]) -> int:
    return sum(each.answers for each in connections)


class Connection(asyncio.Protocol):
    """Asks again as soon as it is answered."""

    def __init__(self, target: Target) -> None:
        self.answers = 0
        self._request = target.request
        self._right = b"HTTP/1.1 " + target.status
        self._got = b""
        self._transport: Any = None
        self._last = False
        self._lost = asyncio.Event()

    async def close(self) -> None:
        """Wait for the last answer: what is cut off would be the server's fault in its log."""
        self._last = True
        async with asyncio.timeout(60):
            await self._lost.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        got = self._got = self._got + data if self._got else data
        head = got.find(END)
        if head < 0 or len(got) < head + len(END) + _length(got, head):
            return
        if not got.startswith(self._right):
            raise RuntimeError(f"The server answered {got[:500]!r}.")
        self._got = b""
        self.answers += 1
        if self._last:
            self._transport.close()
        else:
            self._transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost.set()


def _length(got: bytes, head: int) -> int:
    at = got.find(LENGTH, 0, head)
    if at < 0:
        return 0
    start = at + len(LENGTH)
    return int(got[start : got.find(b"\r", start)])
