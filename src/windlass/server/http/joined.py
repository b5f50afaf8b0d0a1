"""A transport that sends the head of an answer together with its body.

Uvicorn writes them one after the other, and each write is a call of the system, which costs as much
as all the routing.
"""

from __future__ import annotations

import asyncio
from typing import Any


class Joined:
    """Holds a write back until the next one, but no longer than to the next turn of the loop."""

    __slots__ = ("_held", "_is_due", "_loop", "_transport", "is_closing")

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = b""
        self._is_due = False
        self.is_closing = transport.is_closing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held + data)
        elif data:
            self._held = data
            if not self._is_due:
                self._is_due = True
                self._loop.call_soon(self._release)

    def send(self, data: bytes) -> None:
        """Write what needs nothing behind it."""
        self._held = self._held + data if self._held else data
        self._send()

    def close(self) -> None:
        """What is held goes first."""
        self._send()
        self._transport.close()

    def _release(self) -> None:
        self._is_due = False
        self._send()

    def _send(self) -> None:
        held, self._held = self._held, b""
        if held and not self.is_closing():
            self._transport.write(held)
