"""A short cut between a connection of ours and an endpoint, past the messages of ASGI.

Most bodies are there before anybody asks for them, and most answers are whole: to wait for the one
and to take the other to pieces is a tenth of what a small request costs. Whatever is not as usual
goes the long way, as everything does that another server serves (see `mounted`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from .joined import Joined

KEY: Final = "windlass.direct"
"""Where the scope of a request has it."""


class Direct:
    """One request and its answer."""

    __slots__ = ("_cycle", "_transport")

    def __init__(self, cycle: RequestResponseCycle, transport: Joined) -> None:
        self._cycle = cycle
        self._transport = transport

    def body(self) -> bytes | None:
        """The body, once and if all of it has come; else it is to be received."""
        cycle = self._cycle
        if cycle.more_body or cycle.disconnected:
            return None
        body, cycle.body = bytes(cycle.body), bytearray()
        cycle.flow.resume_reading()
        return body

    def answer(self, status: int, headers: bytes, body: bytes) -> bool:
        """Send a whole answer, with headers as they go over the line; or say that it is to be sent.

        To a client that does not read, that is to be cut off, or that is gone.
        """
        cycle = self._cycle
        if cycle.flow.write_paused or cycle.disconnected or not cycle.keep_alive:
            return False
        cycle.response_started = True
        always = [b"%b: %b\r\n" % each for each in cycle.default_headers]
        self._transport.send(b"".join((STATUS_LINE[status], *always, headers, b"\r\n", body)))
        cycle.response_complete = True
        cycle.message_event.set()
        cycle.on_response()
        return True


def direct_of(scope: Mapping[str, Any]) -> Direct | None:
    """The short cut of a request, if there is one."""
    found: Direct | None = scope.get(KEY)
    return found
