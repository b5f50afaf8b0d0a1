"""Payloads that are one protobuf message: bytes that Windlass neither reads nor wraps.

The handler takes one argument: a message, if it is annotated with its class, or the bytes. What it
returns is a message, bytes or None. Anything else that is only bytes to Windlass can go this way.
"""

from __future__ import annotations

from typing import Any, Final

from ..errors import UnencodableValue


class Protobuf:
    """The codec of such jobs; unlike others it has no record around the value."""

    name: Final = "protobuf"
    binary: Final = True

    def encode(self, value: Any) -> bytes:
        match value:
            case (_, (argument,), kwargs) if not kwargs:
                return _bytes(argument)
            case (_, _, _):
                raise UnencodableValue(
                    "a job with the content type protobuf takes one argument, the message, and "
                    "none by name."
                )
            case (_, result):
                return b"" if result is None else _bytes(result)
        return _bytes(value)

    def decode(self, data: bytes) -> bytes:
        return data


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if hasattr(value, "SerializeToString"):
        data: bytes = value.SerializeToString()
        return data
    raise UnencodableValue(
        "with the content type protobuf a value is a message or bytes; got a value of type "
        f"`{type(value).__name__}`."
    )


PROTOBUF: Final = Protobuf()
