"""Payloads that the store cannot read or alter: `Encrypted(MSGPACK, {"2024": key})`.

A record is: version (1 byte), length of the key id (1 byte), key id, nonce (12 bytes),
ciphertext with its tag (AES-GCM).  All before the ciphertext is authenticated with it, and so are
the codec's name and what the record is bound to: its kind, its job and its task.  A nonce is
random, so give each key a successor before it has written about four billion records.  Whoever can
write to the store can still put back what a job had before.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from ..errors import CorruptRecord, InvalidOption, MissingExtra
from .binding import UNBOUND, Binding, EncryptingCodec
from .codec import Codec

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

VERSION: Final = 1
_NONCE: Final = 12
_TAG: Final = 16
_KEY_SIZES: Final = (16, 24, 32)
_pack: Final = msgspec.msgpack.Encoder().encode


class Encrypted(EncryptingCodec):
    """A codec whose output is encrypted with the first of `keys`; each of them decrypts.

    To change keys, first add the new one at the end everywhere, then move it to the front,
    and remove the old one when no job written with it is left.

    An app that writes by it runs nothing and reads nothing that is not encrypted, unless
    `accept_unencrypted`: that is for the time in which jobs from before are still there.
    """

    def __init__(
        self, codec: Codec, keys: Mapping[str, bytes], *, accept_unencrypted: bool = False
    ) -> None:
        _check_keys(keys)
        if isinstance(codec, EncryptingCodec):
            raise InvalidOption("What is encrypted need not be encrypted again.")
        aesgcm, self._invalid_tag = _import_aesgcm()
        self.name = f"{codec.name}+aesgcm"
        self.binary = codec.binary
        self.accept_unencrypted = accept_unencrypted
        self._codec = codec
        self._key_ids = tuple(keys)
        self._ciphers: dict[bytes, AESGCM] = {
            key_id.encode(): aesgcm(bytes(key)) for key_id, key in keys.items()
        }
        first = next(iter(self._ciphers))
        self._cipher = self._ciphers[first]
        self._prefix = bytes((VERSION, len(first))) + first

    def __repr__(self) -> str:
        return f"<Encrypted {self.name}, key ids {', '.join(self._key_ids)}>"

    def encode(self, value: Any, binding: Binding = UNBOUND) -> bytes:
        return self._encrypted(self._codec.encode(value), binding)

    def decode(self, data: bytes, binding: Binding = UNBOUND) -> Any:
        return self._codec.decode(self._decrypted(data, binding))

    def move(self, data: bytes, old: Binding, new: Binding) -> bytes:
        return self._encrypted(self._decrypted(data, old), new)

    def _encrypted(self, plain: bytes, binding: Binding) -> bytes:
        nonce = os.urandom(_NONCE)
        header = self._prefix + nonce
        return header + self._cipher.encrypt(nonce, plain, self._context(header, binding))

    def _decrypted(self, data: bytes, binding: Binding) -> bytes:
        key_id, nonce, start = _read_header(data)
        cipher = self._ciphers.get(key_id)
        shown = key_id.decode(errors="replace")
        if cipher is None:
            raise CorruptRecord(
                f"The record is encrypted with the key {shown!r}, which this process does not "
                "have; add it to the keys."
            )
        try:
            return cipher.decrypt(nonce, data[start:], self._context(data[:start], binding))
        except self._invalid_tag as error:
            raise CorruptRecord(
                "The record was altered, or is that of another job or task or of something else "
                f"of this job, or its key {shown!r} is not the one it was written with."
            ) from error

    def _context(self, header: bytes, binding: Binding) -> bytes:
        return header + _pack((self.name, *binding))


def _read_header(data: bytes) -> tuple[bytes, bytes, int]:
    """The key id, the nonce, and where the ciphertext starts."""
    if len(data) < 2:
        raise CorruptRecord("The encrypted record is cut short.")
    if data[0] != VERSION:
        raise CorruptRecord(
            f"The encrypted record has version {data[0]}, and this release reads version "
            f"{VERSION}; upgrade Windlass here."
        )
    end = 2 + data[1]
    start = end + _NONCE
    if len(data) < start + _TAG:
        raise CorruptRecord("The encrypted record is cut short.")
    return data[2:end], data[end:start], start


def _check_keys(keys: Mapping[str, bytes]) -> None:
    """Refuse keys that cannot work; no message may show a key."""
    if not keys:
        raise InvalidOption("Encryption needs at least one key.")
    for key_id, key in keys.items():
        if not isinstance(key_id, str) or not 1 <= len(key_id.encode()) <= 255:
            raise InvalidOption("A key id must be text of 1 to 255 bytes.")
        if not isinstance(key, bytes | bytearray):
            raise InvalidOption(f"The key {key_id!r} must be bytes, not {type(key).__name__}.")
        if len(key) not in _KEY_SIZES:
            raise InvalidOption(
                f"The key {key_id!r} must have 16, 24 or 32 bytes; it has {len(key)}."
            )


def _import_aesgcm() -> tuple[type[AESGCM], type[Exception]]:
    try:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise MissingExtra(
            "Encryption needs the crypto extra: pip install 'windlass[crypto]'."
        ) from error
    return AESGCM, InvalidTag
