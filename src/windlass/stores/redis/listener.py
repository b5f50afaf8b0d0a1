"""A subscription that outlives its connections.

Its pings are also the pulse of the network: a path that swallows packets shows here first,
and the connections that wait for replies on it are dropped with it.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Any, Final

from ...errors import StoreError
from .connection import AsyncIo, Connection, Subscription
from .fault import Lost
from .io import pack
from .login import Login
from .route import Route
from .url import Address

log = logging.getLogger("windlass")

PULSE: Final = 1.0
"""Seconds between two pings."""

ANSWER: Final = 0.6
"""Seconds for the answer to one, up to a quarter more. Then a fresh connection shows which it is: a
server that is slow answers neither, and a path that swallows packets only the fresh one."""

GRACE: Final = 0.2
"""Seconds for what a slow server has answered at one moment on both. With the pulse before,
a path that fell silent is left for another, and the next job started, within two seconds."""

SHORTEST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 0.5

_PING: Final = pack(("PING",))


class Listener:
    """Calls `heard` from the event loop until it is stopped."""

    def __init__(
        self,
        io: AsyncIo,
        route: Route,
        login: Login,
        channel: str,
        heard: Callable[[bytes | None], None],
    ) -> None:
        self._io = io
        self._route = route
        self._login = login
        self._channel = channel
        self._heard = heard
        self._task = asyncio.get_running_loop().create_task(self._listen())

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))

    async def _listen(self) -> None:
        pause, told = SHORTEST_PAUSE, ""
        while True:
            try:
                subscription = await self._subscribe()
            except (Lost, StoreError) as error:
                if isinstance(error, StoreError) and str(error) != told:
                    told = str(error)
                    log.warning("Nobody is woken by Redis' channel %s: %s", self._channel, told)
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))
                pause = min(pause * 2, LONGEST_PAUSE)
                continue
            pause, told = SHORTEST_PAUSE, ""
            try:
                self._heard(None)
                await self._stay(subscription)
            finally:
                subscription.close("the listener let go of it")
                await subscription.wait_closed()

    async def _is_deserted(self, pong: asyncio.Future[Any], address: Address) -> bool:
        """Whether a fresh connection is answered, and this ping is not."""
        while not pong.done():
            probe = asyncio.ensure_future(self._io.connect(address, self._login, ()))
            try:
                await asyncio.wait((pong, probe), return_when=asyncio.FIRST_COMPLETED)
            finally:
                probe.add_done_callback(_hang_up)
                if not probe.done():
                    probe.cancel()
            if pong.done():
                break
            if probe.exception() is None:
                await asyncio.wait((pong,), timeout=GRACE)
                break
            await asyncio.wait((pong,), timeout=LONGEST_PAUSE * random.uniform(0.5, 1.0))
        return not pong.done()

    async def _subscribe(self) -> Subscription:
        address = (await self._route.link(None)).address
        return await self._io.subscribe(address, self._login, self._channel, self._heard)

    async def _stay(self, subscription: Subscription) -> None:
        """Return when the connection is lost, or leads to a server that is master no more."""
        while True:
            await asyncio.wait((subscription.gone,), timeout=PULSE)
            if subscription.gone.done():
                return
            watched = list(self._route.links())
            for link in watched:
                link.heard = False
            pong = subscription.send(_PING)
            await asyncio.wait((pong,), timeout=ANSWER * random.uniform(1.0, 1.25))
            if not pong.done() and await self._is_deserted(pong, subscription.address):
                for link in watched:
                    if not link.heard:
                        link.close("the network went silent")
                return
            if not self._route.serves(subscription.address):
                return


def _hang_up(probe: asyncio.Future[Connection]) -> None:
    if not probe.cancelled() and probe.exception() is None:
        probe.result().close("it has shown that there is an answer")
