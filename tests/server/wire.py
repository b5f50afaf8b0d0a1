"""A connection to a server on which a test says what no decent client would."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.server.serving import Answer, Served


class Wire:
    """Bytes out, answers in."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def request(self, line: str, body: bytes = b"", **headers: str) -> None:
        """One whole request, well formed but for what the test makes of it."""
        given = {"Host": "localhost", "Content-Length": str(len(body))}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{line} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
        await self.send("\r\n".join([*lines, "", ""]).encode() + body)

    async def answer(self) -> Answer:
        """The next one; `EOFError` if there is none."""
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, ConnectionError):
            raise EOFError from None
        first, *lines = head.rstrip().split("\r\n")
        headers = {name.title(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await self.reader.readexactly(int(headers.get("Content-Length", 0)))
        return Answer(int(first.split()[1]), headers, body)

    async def ended(self) -> bytes:
        """What came before the server closed the connection."""
        rest = b""
        with suppress(ConnectionError):
            while data := await self.reader.read(65_536):
                rest += data
        return rest


@asynccontextmanager
async def wire(api: Served) -> AsyncIterator[Wire]:
    reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
