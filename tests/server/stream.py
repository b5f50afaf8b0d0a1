"""Server-sent events, as a client reads them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from tests.server.serving import V1, Served


class Stream:
    """The events of one answer."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self.answer = answer
        self._rest = b""

    async def next(self) -> tuple[str, Any]:
        """The name and the data of the next event; comments and the like are passed over."""
        while True:
            lines = (await self._block()).decode().split("\n")
            fields = dict(line.split(": ", 1) for line in lines if not line.startswith(":"))
            if "event" in fields:
                return fields["event"], json.loads(fields["data"])

    async def rest(self) -> list[tuple[str, Any]]:
        """What comes until the stream ends."""
        events = []
        while True:
            try:
                events.append(await self.next())
            except EOFError:
                return events

    async def _block(self) -> bytes:
        while b"\n\n" not in self._rest:
            data = await self.answer.content.readany()
            if not data:
                raise EOFError
            self._rest += data
        block, _, self._rest = self._rest.partition(b"\n\n")
        return block


@asynccontextmanager
async def following(
    api: Served, *jobs: str, key: str | None = None, session: aiohttp.ClientSession | None = None
) -> AsyncIterator[Stream]:
    """The events about the store, or about some jobs."""
    params = [("job", id) for id in jobs]
    headers = {} if key is None else {"X-API-Key": key}
    url = f"{api.url}{V1}/events"
    async with (session or api.session).get(url, params=params, headers=headers) as answer:
        assert answer.status == 200, await answer.read()
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        yield Stream(answer)
