"""Integers beyond 64 bits, which MessagePack has no form for: an extension of our own."""

from __future__ import annotations

from typing import Any, Final

from msgspec.msgpack import Ext

CODE: Final = 73


class BigInt(int):
    """An integer beyond 64 bits; unlike an Ext it can be a key of a dict."""

    @property
    def extension(self) -> Ext:
        size = self.bit_length() // 8 + 1
        return Ext(CODE, self.to_bytes(size, "big", signed=True))


def wrap_big_ints(value: Any) -> Any:
    """A value of plain builtins in which integers beyond 64 bits are a `BigInt`."""
    match value:
        case int() if not -(2**63) <= value < 2**64:
            return BigInt(value)
        case dict():
            return {wrap_big_ints(key): wrap_big_ints(item) for key, item in value.items()}
        case list():
            return [wrap_big_ints(item) for item in value]
        case tuple():
            return tuple(wrap_big_ints(item) for item in value)
    return value


def read_extension(code: int, data: memoryview) -> Any:
    """An extension that was read: an integer, or what it is if it is not ours."""
    if code == CODE:
        return int.from_bytes(data, "big", signed=True)
    return Ext(code, bytes(data))
