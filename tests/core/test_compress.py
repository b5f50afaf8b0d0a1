"""Compression is invisible, bounded, and left out where it would not help."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.core.codec import JSON, MSGPACK, Codecs, decode_call, encode_call
from windlass.core.compress import MIB, Compressed
from windlass.core.encrypt import Encrypted
from windlass.errors import (
    CorruptRecord,
    InvalidOption,
    MissingExtra,
    PayloadTooLarge,
    UnencodableValue,
)

codec = Compressed(MSGPACK)
MODULE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


@given(value=st.binary() | st.text(st.characters(codec="utf-8")), times=st.integers(0, 3000))
def test_any_payload_comes_back(value: bytes | str, times: int) -> None:
    assert codec.decode(codec.encode(value * times)) == value * times


def test_a_repetitive_payload_shrinks() -> None:
    assert len(codec.encode(b"ab" * 50_000)) < 1000


def test_a_payload_below_the_minimum_is_kept_as_it_is() -> None:
    value = "a" * 900
    assert codec.encode(value) == b"\x00" + MSGPACK.encode(value)
    assert Compressed(MSGPACK, minimum=10).encode(value)[:1] == b"\x01"


def test_a_payload_that_would_grow_is_kept_as_it_is() -> None:
    value = os.urandom(5000)
    assert codec.encode(value) == b"\x00" + MSGPACK.encode(value)


def test_the_name_tells_the_layers() -> None:
    assert codec.name == "msgpack+zstd"
    assert Compressed(JSON).name == "json+zstd"
    assert (codec.binary, Compressed(JSON).binary) == (True, False)
    assert repr(codec) == "<Compressed msgpack+zstd>"
    assert Codecs(codec).get("msgpack+zstd") is codec


def test_an_unencodable_argument_is_still_named() -> None:
    with pytest.raises(UnencodableValue, match="argument 'x'"):
        encode_call(codec, (), {"x": object()})


@pytest.mark.parametrize("data", [b"", b"\x02abc", b"\x01", b"\x01garbage"])
def test_bytes_that_are_no_record_are_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptRecord):
        codec.decode(data)


@given(cut=st.integers(min_value=0, max_value=60))
def test_a_record_cut_short_is_corrupt(cut: int) -> None:
    data = codec.encode(list(range(2000)))
    with pytest.raises(CorruptRecord):
        codec.decode(data[: cut * len(data) // 61])


def test_bytes_after_the_end_are_corrupt() -> None:
    with pytest.raises(CorruptRecord, match="bytes after its end"):
        codec.decode(codec.encode("a" * 5000) + b"\x00")


@given(position=st.integers(min_value=0), flip=st.integers(min_value=1, max_value=255))
def test_a_damaged_record_raises_nothing_but_corrupt_record(position: int, flip: int) -> None:
    data = bytearray(encode_call(codec, ("abcdefgh" * 300,), {}))
    data[position % len(data)] ^= flip
    try:
        args, kwargs = decode_call(codec, bytes(data))
    except CorruptRecord:
        return
    assert isinstance(args, list)
    assert isinstance(kwargs, dict)


def test_a_record_that_would_fill_the_memory_is_corrupt() -> None:
    bomb = Compressed(MSGPACK).encode(b"\0" * 10_000_000)
    assert len(bomb) < 1000
    with pytest.raises(CorruptRecord, match="decompresses to more than 4194304 bytes"):
        Compressed(MSGPACK, limit=4 * MIB).decode(bomb)


def test_a_window_larger_than_the_limit_is_corrupt() -> None:
    zstd = import_module(MODULE)
    options = {zstd.CompressionParameter.window_log: 27}
    compressor = zstd.ZstdCompressor(options=options)
    frame = compressor.compress(MSGPACK.encode("a" * 2000)) + compressor.flush()
    with pytest.raises(CorruptRecord, match="cannot be decompressed"):
        Compressed(MSGPACK, limit=100_000).decode(b"\x01" + frame)


def test_the_limit_is_exact_in_both_directions() -> None:
    value = "a" * 5000
    size = len(MSGPACK.encode(value))
    exact = Compressed(MSGPACK, limit=size)
    assert exact.decode(exact.encode(value)) == value
    with pytest.raises(PayloadTooLarge, match=f"has {size} bytes .* limit of {size - 1}"):
        Compressed(MSGPACK, limit=size - 1).encode(value)
    with pytest.raises(CorruptRecord, match="more than"):
        Compressed(MSGPACK, limit=size - 1).decode(exact.encode(value))


@pytest.mark.parametrize("level", [1, 22])
def test_every_level_can_be_read(level: int) -> None:
    made = Compressed(MSGPACK, level=level)
    assert codec.decode(made.encode("abc" * 9000)) == "abc" * 9000


@pytest.mark.parametrize(
    "options", [{"level": 0}, {"level": 23}, {"minimum": -1}, {"limit": 0}], ids=str
)
def test_an_option_out_of_range_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match=next(iter(options))):
        Compressed(MSGPACK, **options)


def test_compressing_what_is_encrypted_is_refused() -> None:
    with pytest.raises(InvalidOption, match=r"use Encrypted\(Compressed"):
        Compressed(Encrypted(MSGPACK, {"a": bytes(16)}))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    package, _, name = MODULE.partition(".")
    monkeypatch.setitem(sys.modules, MODULE, None)
    monkeypatch.delattr(f"{package}.{name}", raising=False)
    with pytest.raises(MissingExtra, match=r"pip install 'windlass\[zstd\]'"):
        Compressed(MSGPACK)
