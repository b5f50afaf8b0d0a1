"""How answers are sent: whole, as a problem, or line by line."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import aclosing
from http import HTTPStatus
from typing import Any, Final, NamedTuple, cast

import msgspec

from ...core.codec import MSGPACK as EXACT
from ...errors import Unauthenticated, WindlassError
from ..faults import Fault
from .body import MSGPACK
from .call import Binary, Headers, Lines, Reply
from .exchange import Exchange
from .problem import CONTENT_TYPE, headers_of, problem_of
from .security import NOSNIFF

log = logging.getLogger("windlass.http")

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

ALWAYS: Final[Headers] = ((b"cache-control", b"no-store"), NOSNIFF)
USUAL: Final = (
    b"".join(b"%b: %b\r\n" % each for each in ALWAYS)
    + b"content-type: %b\r\ncontent-length: %d\r\n"
)
CLOSE: Final[Headers] = ((b"connection", b"close"),)
JSON_LINES: Final = "application/x-ndjson"


class Whole(NamedTuple):
    """An answer that is sent at once."""

    status: int
    kind: bytes
    data: bytes
    extra: Headers = ()


def encoded(value: Any, status: int, headers: Mapping[bytes, bytes]) -> Whole:
    """What a function answered, for a request with these headers; `status` is the usual one."""
    if isinstance(value, Binary):
        return Whole(status, value.content_type.encode(), value.data, value.headers)
    extra: Headers = ()
    if isinstance(value, Reply):
        value, status, extra, _ = value
    if value is None:
        return Whole(HTTPStatus.NO_CONTENT, b"", b"", extra)
    data = msgspec.json.encode(value)
    if MSGPACK in headers.get(b"accept", b""):
        # By way of JSON: parts of an answer may be JSON already.
        return Whole(status, MSGPACK, EXACT.encode(msgspec.json.decode(data)), extra)
    return Whole(status, b"application/json", data, extra)


def sent_directly(direct: Exchange, answer: Whole) -> bool:
    """Whether an answer could go the short way: one with nothing but what most have."""
    if answer.extra or not answer.kind:
        return False
    return direct.answer(answer.status, USUAL % (answer.kind, len(answer.data)), answer.data)


async def send_whole(send: Send, answer: Whole, method: str, last: Headers = ()) -> None:
    headers = [*ALWAYS, *last, *answer.extra]
    if answer.kind:
        length = b"%d" % len(answer.data)
        headers += [(b"content-type", answer.kind), (b"content-length", length)]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else answer.data})


async def send_problem(
    send: Send, fault: Fault, method: str, extra: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Answer with a problem document."""
    data = msgspec.json.encode(problem_of(fault))
    answer = Whole(fault.status, CONTENT_TYPE, data, headers_of(fault))
    await send_whole(send, answer, method, [*extra])


async def send_lines(
    send: Send, lines: Lines, method: str, is_over: Callable[[], bool] = lambda: False
) -> None:
    """Send a file as it is made.

    If that fails, or is over for who asked, the answer is left without an end, by which a client
    knows that more is missing.
    """
    headers = [
        *ALWAYS,
        (b"content-type", JSON_LINES.encode()),
        (b"content-disposition", f'attachment; filename="{lines.name}"'.encode()),
    ]
    await send({"type": "http.response.start", "status": HTTPStatus.OK, "headers": headers})
    # A generator, which must be closed where it is used.
    async with aclosing(cast(Any, lines.stream)):
        try:
            if method != "HEAD":
                await _send_parts(send, lines.stream, is_over)
        except asyncio.CancelledError:
            # The server does not wait any longer; nothing else can be answered by now.
            return
        except WindlassError as error:
            log.warning("a file of JSON lines ends before its time: %s", error)
            return
        except Exception:
            log.exception("a file of JSON lines failed")
            return
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_parts(
    send: Send, stream: AsyncIterator[bytes], is_over: Callable[[], bool]
) -> None:
    async for part in stream:
        if is_over():
            raise Unauthenticated("The key that it was asked with counts no longer.")
        await send({"type": "http.response.body", "body": part, "more_body": True})
