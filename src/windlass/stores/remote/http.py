"""Requests to a server over HTTP: each call of the contract is a POST, which may be sent again."""

from __future__ import annotations

from io import BytesIO
from typing import Final
from weakref import finalize

import aiohttp

from ...errors import StoreError
from .effort import persist
from .fault import Fault, lost, told
from .plain import warn_of_plain
from .url import Settings

PATH: Final = "/api/v1/store/"
MSGPACK: Final = "application/msgpack"
LARGE: Final = 256 * 1024
"""Bytes of a body above which it is sent in pieces, and others go on meanwhile."""


class HttpTransport:
    """Connections to one server, for the event loop that opened them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._base = f"{settings.scheme}://{settings.address}{settings.prefix}{PATH}"
        self._session: aiohttp.ClientSession | None = None

    def open(self) -> None:
        warn_of_plain(self._settings)
        headers = {"Content-Type": MSGPACK, "Accept": MSGPACK, "Accept-Encoding": "identity"}
        if self._settings.key is not None:
            headers["X-API-Key"] = self._settings.key
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._settings.tls or True),
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
        )
        self._leaving = finalize(self, _leave, self._session)

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            self._leaving.detach()
            await session.close()

    async def send(
        self, name: str, body: bytes, *, longer: float = 0.0, patience: float | None = None
    ) -> bytes:
        """The answer to one call, which may take so many seconds longer than others."""
        most = self._settings.patience if patience is None else patience
        return await persist(lambda: self._try(name, body, longer), most)

    async def _try(self, name: str, body: bytes, longer: float) -> bytes | Fault:
        if self._session is None:
            raise StoreError("The store is closed; open it first.")
        limit = aiohttp.ClientTimeout(total=self._settings.timeout + longer)
        data = BytesIO(body) if len(body) > LARGE else body
        try:
            async with self._session.post(
                self._base + name, data=data, timeout=limit, allow_redirects=False
            ) as response:
                answer = await response.read()
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return lost(error, self._settings.address)
        if response.status == 200:
            return answer
        return told(response.status, answer, self._settings.address)


def _leave(session: aiohttp.ClientSession) -> None:
    """Let go of a session that nobody closed, most often at the end of the process.

    Its connections are left to the system: a child that came by `fork` would take them from its
    parent if it closed them, and so would aiohttp, with complaints, unless it is told not to.
    """
    connector = session.connector
    session.detach()
    if connector is not None:
        connector._closed = True
