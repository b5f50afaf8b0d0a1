"""Stored bytes that somebody, or something, has changed: read as damaged, never a crash."""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from windlass.core.attempts import AttemptRecord, decode_attempt
from windlass.core.codec import JSON, MSGPACK, Codec, decode_call, decode_result, encode_result
from windlass.core.model import Spec, decode_spec, encode_spec
from windlass.errors import CorruptRecord
from windlass.stores.redis.mail import pack_mail, read_mail
from windlass.stores.sql.fields import (
    decode_failure,
    decode_ids,
    decode_mail,
    decode_progress,
    decode_worker,
)

SOUND = [
    encode_spec(Spec("t", b"x")),
    encode_spec(Spec("t", b"x", labels={"a": "b"}, parents=("p",), group="g")),
    encode_result(MSGPACK, {"a": [1, 2.5, None]}),
    encode_result(JSON, {"a": [1, 2.5, None]}),
]


@st.composite
def bytes_like_ours(draw: st.DrawFn) -> bytes:
    """Something sound with a few bytes changed, or any bytes."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=80))
    data = bytearray(draw(st.sampled_from(SOUND)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data) - 1))
        data[at] = draw(st.integers(0, 255))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@settings(max_examples=200)
@given(bytes_like_ours(), st.sampled_from([JSON, MSGPACK]))
@example(b"\x91" * 100_000, MSGPACK)
@example(b"[" * 100_000, JSON)
def test_any_bytes_are_a_call_and_a_result_or_corrupt(data: bytes, codec: Codec) -> None:
    for decode in (decode_call, decode_result):
        try:
            decode(codec, data)
        except CorruptRecord:
            continue


@settings(max_examples=200)
@given(bytes_like_ours() | st.text() | st.integers() | st.none() | st.floats())
@example(b"\x91" * 100_000)
def test_anything_stored_for_a_spec_is_read_as_one(record: Any) -> None:
    assert isinstance(decode_spec(record), Spec)


@settings(max_examples=200)
@given(bytes_like_ours() | st.text() | st.integers() | st.none())
def test_anything_stored_for_an_attempt_is_read_or_left_out(record: Any) -> None:
    assert isinstance(decode_attempt(record), AttemptRecord | None)


ANY_COLUMN = st.none() | st.text(max_size=30) | st.binary(max_size=30) | st.integers() | st.floats()


@settings(max_examples=200)
@given(ANY_COLUMN)
@example("[" * 100_000)
@example("\ud800")
def test_anything_stored_in_a_field_of_a_row_hides_no_other(value: Any) -> None:
    for decode in (decode_failure, decode_progress, decode_mail, decode_ids):
        decode(value)
    assert decode_worker("w", value, 1, value).seen_at == 1


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_any_mail_of_a_job_in_redis_is_read(raw: bytes) -> None:
    read_mail(raw)
    sound = pack_mail("signal", {"a": b"word"})
    assert read_mail(sound) == ("signal", {"a": b"word"})
