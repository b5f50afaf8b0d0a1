"""Fields of rows that are records of their own, and back; one that is damaged hides no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

import msgspec

from ...core.model import Failure, Progress
from ...core.workers import Order, WorkerInfo

encode_json = msgspec.json.Encoder().encode
_decode_failure = msgspec.json.Decoder(Failure).decode
_decode_progress = msgspec.json.Decoder(Progress).decode
_decode_worker = msgspec.json.Decoder(WorkerInfo).decode
_encode_mail = msgspec.msgpack.Encoder().encode
_decode_mail = msgspec.msgpack.Decoder(dict[str, bytes]).decode
_decode_ids = msgspec.json.Decoder(tuple[str, ...]).decode

# A database that does not mind types gives back whatever somebody wrote to it.
_DAMAGED: Final = (msgspec.DecodeError, UnicodeError, TypeError)


def encode_failure(failure: Failure | None) -> str | None:
    return None if failure is None else encode_json(failure).decode()


def decode_failure(text: str | None) -> Failure | None:
    if text is None:
        return None
    try:
        return _decode_failure(text)
    except _DAMAGED:
        return Failure("Unreadable", text if isinstance(text, str) else repr(text))


def encode_progress(progress: Progress) -> str:
    return encode_json(progress).decode()


def decode_progress(text: str | None) -> Progress | None:
    if text is None:
        return None
    try:
        return _decode_progress(text)
    except _DAMAGED:
        return Progress(0, f"(unreadable) {text}")


def encode_mail(mail: Mapping[str, bytes]) -> bytes:
    return _encode_mail(mail)


def decode_mail(record: bytes | None) -> Mapping[str, bytes] | None:
    try:
        return None if record is None else _decode_mail(record)
    except _DAMAGED:
        return None


def encode_worker(worker: WorkerInfo) -> str:
    return encode_json(worker).decode()


def decode_worker(id: str, text: str, seen_at: int, said: str | None) -> WorkerInfo:
    try:
        worker = _decode_worker(text)
    except _DAMAGED:
        worker = WorkerInfo(id, "(unreadable)", 0, (), 0, seen_at)
    order = next((each for each in get_args(Order) if each == said), None)
    return msgspec.structs.replace(worker, seen_at=seen_at, order=order)


def decode_ids(text: str) -> tuple[str, ...]:
    try:
        return _decode_ids(text)
    except _DAMAGED:
        return ()
