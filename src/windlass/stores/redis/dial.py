"""The way to a server on asyncio: all its addresses, some at once, within one limit of time."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, repeat, zip_longest
from typing import Any, Final, TypeVar

from .url import Address

NEXT_ADDRESS: Final = 0.25
"""Seconds after which the next address of a host is tried beside the one before it."""

ONCE_MORE: Final = 1.0
"""Seconds after which it is tried once more: the kernel repeats a lost first packet ever more
seldom, so after a network cut a new attempt gets through before an old one does."""

P = TypeVar("P", bound=asyncio.BaseProtocol)

Reached = tuple[asyncio.BaseTransport, P]


async def dial(
    make: Callable[[], P], address: Address, tls: ssl.SSLContext | None, limit: float
) -> Reached[P]:
    """A transport with its protocol; `TimeoutError` or `OSError` if no address gives one.

    The limit is for everything: the name, the connection, and TLS.
    """
    async with asyncio.timeout(limit):
        loop = asyncio.get_running_loop()
        if address.path:
            return await loop.create_unix_connection(make, address.path)
        hosts = [each[4][0] for each in in_turn(await _found(address))]
        name = address.host if tls is not None else None

        async def attempt(host: Any) -> Reached[P]:
            return await loop.create_connection(
                make, host, address.port, ssl=tls, server_hostname=name
            )

        reached: Reached[P] = await _first([(attempt, host) for host in hosts])
        return reached


async def _found(address: Address) -> Sequence[Any]:
    """The addresses of a host, as `getaddrinfo` tells them; what is an address is not looked up."""
    host, port = address
    with suppress(socket.gaierror):  # it is a name
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    loop = asyncio.get_running_loop()
    try:
        return await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except RuntimeError:
        # The interpreter ends, and gives no threads any more to look it up in.
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def in_turn(found: Sequence[Any]) -> list[Any]:
    """Addresses of both families by turns, beginning with the family of the first."""
    first = [each for each in found if each[0] == found[0][0]]
    others = [each for each in found if each[0] != found[0][0]]
    pairs = chain.from_iterable(zip_longest(first, others))
    return [each for each in pairs if each is not None]


def _pauses(number: int) -> Iterator[float]:
    """Seconds after each attempt, until the next one begins beside it."""
    return chain(repeat(NEXT_ADDRESS, number - 1), repeat(ONCE_MORE))


async def _first(targets: Sequence[Any]) -> Any:
    """What the first attempt brings; the failure of the last one, if all of them have failed."""
    going: set[asyncio.Task[Any]] = set()
    failed = 0
    try:
        for n, pause in enumerate(_pauses(len(targets))):
            attempt, host = targets[n % len(targets)]
            going.add(asyncio.get_running_loop().create_task(attempt(host)))
            done, going = await asyncio.wait(
                going, timeout=pause, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                failure = task.exception()
                if failure is None:
                    return task.result()
                failed += 1
                if failed >= len(targets) and not going:
                    raise failure
        raise AssertionError("there is always another attempt")
    finally:
        for task in going:
            task.add_done_callback(_hang_up)
            task.cancel()


def _hang_up(task: asyncio.Task[Any]) -> None:
    """Close what came too late."""
    if not task.cancelled() and task.exception() is None:
        task.result()[0].abort()
