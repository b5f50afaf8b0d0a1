"""Payloads made smaller with Zstandard: `Compressed(MSGPACK)`.

The first byte of a record says whether the rest is compressed, because a small payload
grows when compressed and is kept as it is.  Compress before encrypting, never after:
encrypted bytes do not shrink.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Final

from ..errors import CorruptRecord, InvalidOption, MissingExtra, PayloadTooLarge
from .binding import EncryptingCodec
from .codec import Codec

MIB: Final = 1024 * 1024
_PLAIN: Final = b"\x00"
_ZSTD: Final = b"\x01"


class Compressed:
    """A codec whose output is compressed when it has `minimum` bytes or more.

    `limit` bounds the uncompressed size in both directions, so that a few hostile bytes
    cannot fill the memory of a worker.
    """

    def __init__(
        self, codec: Codec, minimum: int = 1024, level: int = 3, *, limit: int = 64 * MIB
    ) -> None:
        _check_options(codec, minimum, level, limit)
        self.name = f"{codec.name}+zstd"
        self.binary = codec.binary
        self._codec = codec
        self._minimum = minimum
        self._level = level
        self._limit = limit
        self._zstd: Any = _import_zstd()
        # A frame may ask for a window far larger than its content; zstd takes 10 to 31.
        window = min(max(limit.bit_length(), 10), 31)
        self._options = {self._zstd.DecompressionParameter.window_log_max: window}

    def __repr__(self) -> str:
        return f"<Compressed {self.name}>"

    def encode(self, value: Any) -> bytes:
        plain = self._codec.encode(value)
        if len(plain) < self._minimum:
            return _PLAIN + plain
        if len(plain) > self._limit:
            raise PayloadTooLarge(
                f"The payload has {len(plain)} bytes before compression, more than the limit of "
                f"{self._limit}; store the data elsewhere and pass a reference to it."
            )
        small: bytes = self._zstd.compress(plain, level=self._level)
        return _ZSTD + small if len(small) < len(plain) else _PLAIN + plain

    def decode(self, data: bytes) -> Any:
        marker, rest = data[:1], data[1:]
        if marker == _ZSTD:
            return self._codec.decode(self._decompress(rest))
        if marker == _PLAIN:
            return self._codec.decode(rest)
        raise CorruptRecord("The record does not begin with a compression marker.")

    def _decompress(self, data: bytes) -> bytes:
        decompressor = self._zstd.ZstdDecompressor(options=self._options)
        try:
            # One byte more than allowed tells "exactly the limit" from "beyond it".
            plain: bytes = decompressor.decompress(data, max_length=self._limit + 1)
        except self._zstd.ZstdError as error:
            raise CorruptRecord(f"The record cannot be decompressed: {error}.") from error
        if len(plain) > self._limit:
            raise CorruptRecord(f"The record decompresses to more than {self._limit} bytes.")
        if not decompressor.eof or decompressor.unused_data:
            raise CorruptRecord("The compressed record is cut short or has bytes after its end.")
        return plain


def _check_options(codec: Codec, minimum: int, level: int, limit: int) -> None:
    if isinstance(codec, EncryptingCodec):
        raise InvalidOption("Encrypted bytes do not shrink; use Encrypted(Compressed(…)) instead.")
    if minimum < 0:
        raise InvalidOption(f"minimum must be 0 bytes or more; got {minimum}.")
    if not 1 <= level <= 22:
        raise InvalidOption(f"level must be from 1 to 22; got {level}.")
    if limit < 1:
        raise InvalidOption(f"limit must be 1 byte or more; got {limit}.")


def _import_zstd() -> ModuleType:
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise MissingExtra(
            "Compression needs the zstd extra: pip install 'windlass[zstd]'."
        ) from error
    return zstd
