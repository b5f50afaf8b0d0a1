"""An encrypted record can be read with the right key and cannot be altered."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.codec import JSON, MSGPACK, Codecs, decode_call, encode_call
from windlass.core.compress import Compressed
from windlass.core.encrypt import Encrypted
from windlass.errors import CorruptRecord, InvalidOption, MissingExtra

OLD = b"o" * 32
NEW = b"n" * 32
codec = Encrypted(MSGPACK, {"old": OLD})


@given(value=st.binary() | st.text(st.characters(codec="utf-8")) | st.integers())
def test_any_payload_comes_back(value: Any) -> None:
    assert decode_call(codec, encode_call(codec, (value,), {"k": value})) == ([value], {"k": value})


@pytest.mark.parametrize("size", [16, 24, 32])
def test_each_key_size_works(size: int) -> None:
    sized = Encrypted(MSGPACK, {"k": bytes(range(size))})
    assert sized.decode(sized.encode("text")) == "text"


def test_the_payload_cannot_be_seen() -> None:
    assert b"secret" not in codec.encode("secret")


def test_the_same_value_never_looks_the_same() -> None:
    assert len({codec.encode("secret") for _ in range(100)}) == 100


def test_the_record_has_the_documented_layout() -> None:
    data = codec.encode(7)
    assert data[:5] == b"\x01\x03old"
    assert len(data) == 5 + 12 + len(MSGPACK.encode(7)) + 16


@given(position=st.integers(min_value=0), flip=st.integers(min_value=1, max_value=255))
def test_flipping_any_byte_is_refused(position: int, flip: int) -> None:
    data = bytearray(codec.encode([1, ["hello"], {}]))
    data[position % len(data)] ^= flip
    with pytest.raises(CorruptRecord):
        codec.decode(bytes(data))


def test_cutting_or_extending_a_record_is_refused() -> None:
    data = codec.encode([1, ["hello"], {}])
    for end in range(len(data)):
        with pytest.raises(CorruptRecord):
            codec.decode(data[:end])
    with pytest.raises(CorruptRecord):
        codec.decode(data + b"\0")


@given(data=st.binary(max_size=80))
def test_bytes_that_are_no_record_are_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptRecord):
        codec.decode(b"\x01\x03old" + data)
    with pytest.raises(CorruptRecord):
        codec.decode(data)


def test_after_a_rotation_the_old_records_can_be_read_and_new_ones_use_the_first_key() -> None:
    rotated = Encrypted(MSGPACK, {"new": NEW, "old": OLD})
    assert rotated.decode(codec.encode("kept")) == "kept"
    assert Encrypted(MSGPACK, {"new": NEW}).decode(rotated.encode("fresh")) == "fresh"


def test_a_record_of_an_unknown_key_names_the_key() -> None:
    with pytest.raises(CorruptRecord, match="encrypted with the key 'new', which this process"):
        codec.decode(Encrypted(MSGPACK, {"new": NEW}).encode(1))


def test_another_key_of_the_same_id_is_refused() -> None:
    with pytest.raises(CorruptRecord, match="its key 'old' is not the one it was written with"):
        codec.decode(Encrypted(MSGPACK, {"old": NEW}).encode(1))


def test_a_record_of_a_newer_version_says_so() -> None:
    with pytest.raises(CorruptRecord, match="has version 2, and this release reads version 1"):
        codec.decode(b"\x02" + codec.encode(1)[1:])


def test_a_record_cannot_pass_for_one_of_another_codec() -> None:
    with pytest.raises(CorruptRecord, match="was altered"):
        Encrypted(JSON, {"old": OLD}).decode(codec.encode(1))


def test_the_name_tells_the_layers() -> None:
    layers = Encrypted(Compressed(MSGPACK), {"k": OLD})
    assert layers.name == "msgpack+zstd+aesgcm"
    assert layers.decode(layers.encode("abc" * 5000)) == "abc" * 5000
    assert Codecs(layers).get("msgpack+zstd+aesgcm") is layers
    assert (codec.binary, Encrypted(JSON, {"k": OLD}).binary) == (True, False)


def test_no_key_appears_in_a_repr() -> None:
    shown = repr(Encrypted(MSGPACK, {"new": NEW, "old": OLD}))
    assert shown == "<Encrypted msgpack+aesgcm, key ids new, old>"
    kept = Encrypted(MSGPACK, {"old": OLD})
    assert OLD.decode() not in repr(vars(kept))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({}, "at least one key"),
        ({"k": b"SECRET"}, "'k' must have 16, 24 or 32 bytes; it has 6"),
        ({"k": b"SECRET" * 6}, "it has 36"),
        ({"good": OLD, "k": b""}, "'k' must have"),
        ({"k": "SECRET-SECRET-SE"}, "must be bytes, not str"),
        ({"": OLD}, "text of 1 to 255 bytes"),
        ({"é" * 128: OLD}, "text of 1 to 255 bytes"),
        ({7: OLD}, "text of 1 to 255 bytes"),
    ],
)
def test_keys_that_cannot_work_are_refused_without_showing_them(keys: Any, text: str) -> None:
    with pytest.raises(InvalidOption, match=text) as caught:
        Encrypted(MSGPACK, keys)
    assert "SECRET" not in str(caught.value)


def test_the_longest_key_id_works() -> None:
    longest = Encrypted(MSGPACK, {"k" * 255: OLD})
    assert longest.decode(longest.encode(1)) == 1


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(MissingExtra, match=r"pip install 'windlass\[crypto\]'"):
        Encrypted(MSGPACK, {"k": OLD})
