"""The body and the query of a request: read within bounds, decoded into the types asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

import msgspec

from ..faults import Malformed, TooLarge, TooSlow, WrongType
from .deadline import Deadline, Overdue
from .exchange import Exchange

T = TypeVar("T")
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

JSON: Final = b"application/json"
MSGPACK: Final = b"application/msgpack"
FORMATS: Final = {
    JSON: msgspec.json,
    MSGPACK: msgspec.msgpack,
    b"application/x-msgpack": msgspec.msgpack,
}
MOST_PARAMETERS: Final = 100


class Disconnected(Exception):
    """The client went away before its request was complete."""


async def read_body(
    receive: Receive,
    headers: Mapping[bytes, bytes],
    most: int,
    deadline: Deadline,
    direct: Exchange | None = None,
) -> bytes:
    """The whole body, within `most` bytes and the deadline."""
    length = headers.get(b"content-length")
    if length is not None and int(length) > most:
        raise _too_large(most)
    if direct is not None and (body := direct.body()) is not None:
        if len(body) > most:
            raise _too_large(most)
        return body
    try:
        return await deadline.hold(_received(receive, most))
    except Overdue:
        raise TooSlow(
            f"The body of the request did not arrive within {deadline.seconds:g} s."
        ) from None


async def _received(receive: Receive, most: int) -> bytes:
    message = await receive()
    if not message.get("more_body"):
        return _whole(message, message.get("body", b""), most)
    body = bytearray(message.get("body", b""))
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > most or not message.get("more_body"):
            return _whole(message, bytes(body), most)


def _whole(message: Mapping[str, Any], body: bytes, most: int) -> bytes:
    if message["type"] == "http.disconnect":
        raise Disconnected
    if len(body) > most:
        raise _too_large(most)
    return body


def _too_large(most: int) -> TooLarge:
    return TooLarge(
        f"The body of the request is larger than {most:,} bytes; store large data elsewhere, or "
        "send it in several requests."
    )


class Body:
    """Decodes the bodies of one endpoint, as JSON or MessagePack by their content type."""

    def __init__(self, kind: Any, *, optional: bool) -> None:
        self._optional = optional
        self._decoders = {name: module.Decoder(kind).decode for name, module in FORMATS.items()}

    def decode(self, data: bytes, content_type: bytes | None) -> Any:
        if not data and self._optional:
            return None
        decode = self._decoders.get(content_type or b"")
        if decode is None:
            decode = self._decoders.get((content_type or b"").partition(b";")[0].strip().lower())
        if decode is None:
            raise WrongType(
                "The body is read as application/json or application/msgpack; say which in "
                "Content-Type."
            )
        try:
            return decode(data)
        except msgspec.ValidationError as error:
            raise Malformed(f"The body does not fit: {str(error).rstrip('.')}.") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Malformed(f"The body cannot be read: {str(error).rstrip('.')}.") from None


@cache
def _parameters(kind: type[msgspec.Struct]) -> tuple[list[str], set[str]]:
    """The names of all parameters, and of those that may come again."""
    fields = msgspec.structs.fields(kind)
    names = [field.name for field in fields]
    return names, {field.name for field in fields if "tuple" in str(field.type)}


class Query:
    """Reads the query of one endpoint into a Struct; a tuple is a parameter that may come again."""

    def __init__(self, kind: type[msgspec.Struct]) -> None:
        self._kind = kind
        self._names, self._many = _parameters(kind)

    def read(self, text: bytes) -> msgspec.Struct:
        values: dict[str, Any] = {}
        for name, value in self._pairs(text):
            if name not in self._names:
                near = get_close_matches(name, self._names, 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {self._known}."
                raise Malformed(f"Unknown parameter {name!r}: {hint}")
            if name in self._many:
                values.setdefault(name, []).append(value)
            elif name in values:
                raise Malformed(f"The parameter {name} is given twice.")
            else:
                values[name] = value
        try:
            read = msgspec.convert(values, self._kind, strict=False)
        except msgspec.ValidationError as error:
            raise Malformed(f"A parameter does not fit: {str(error).rstrip('.')}.") from None
        for name in values:
            # That is what msgspec makes of the text null, where there may be none.
            if getattr(read, name) is None:
                raise Malformed(f"The parameter {name} cannot be null; leave it out.")
        return read

    @property
    def _known(self) -> str:
        return ", ".join(self._names) or "none"

    def _pairs(self, text: bytes) -> list[tuple[str, str]]:
        try:
            return parse_qsl(
                text.decode("ascii"),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=MOST_PARAMETERS,
            )
        except ValueError:
            raise Malformed("The query cannot be read as parameters in UTF-8.") from None
