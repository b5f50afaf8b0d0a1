"""The bytes of a connection: out, with an eye on whether they are read, and in, or not for now."""

from __future__ import annotations

import asyncio

from .connections import Connections


class Pipe(asyncio.BufferedProtocol):
    """What is written goes nowhere once the connection is over. Who does not read is cut off."""

    __slots__ = (
        "_is_over",
        "_is_paused",
        "_room",
        "_stall",
        "_transport",
        "_unread",
        "is_stalled",
        "shared",
    )

    _transport: asyncio.Transport

    def __init__(self, shared: Connections) -> None:
        self.shared = shared
        self.is_stalled = False
        """whether the client does not read its answers"""
        self._is_over = False
        self._is_paused = False
        self._room: asyncio.Event | None = None
        self._stall: asyncio.TimerHandle | None = None
        self._unread = 0

    def cut(self) -> None:
        """End without a word."""
        raise NotImplementedError

    @property
    def unsent(self) -> int:
        """Bytes of answers that have not gone yet."""
        return self._transport.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        if not self._is_over and not self._transport.is_closing():
            self._transport.write(data)

    def write_two(self, head: bytes, data: bytes) -> None:
        """Without a copy: many may be sent the same at once."""
        if not self._is_over and not self._transport.is_closing():
            self._transport.writelines([head, data] if head else [data])

    async def drained(self) -> None:
        """Return when the client has read most of what was sent, or is gone."""
        while self.is_stalled and not self._is_over:
            if self._room is None:
                self._room = asyncio.Event()
            self._room.clear()
            await self._room.wait()

    def pause_writing(self) -> None:
        self.is_stalled = True
        self._expect_reader()

    def resume_writing(self) -> None:
        self.is_stalled = False
        if not self._is_over:
            self._forget_reader()
        self._let_on()

    def _let_on(self) -> None:
        """Whoever waits for the client to read may go on."""
        if self._room is not None:
            self._room.set()

    def _pause(self) -> None:
        if not self._is_paused and not self._transport.is_closing():
            self._is_paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        if self._is_paused and not self._transport.is_closing():
            self._is_paused = False
            self._transport.resume_reading()

    def _expect_reader(self) -> None:
        self._forget_reader()
        self._unread = self._transport.get_write_buffer_size()
        self._stall = self.shared.loop.call_later(
            self.shared.settings.body_timeout, self._check_reader
        )

    def _check_reader(self) -> None:
        size = self._transport.get_write_buffer_size()
        if size and size >= self._unread:
            self.cut()
        elif size:
            self._expect_reader()

    def _forget_reader(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
