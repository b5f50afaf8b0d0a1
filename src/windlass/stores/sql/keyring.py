"""Keys of the API as rows: one record each, which only we read."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from ...core.apikey import ApiKey
from ...core.keymarks import (
    HAD_KEYS,
    is_mark,
    logins_in,
    marks_of,
    past_in,
    tells_of_keys,
    without_marks,
)
from .operation import Bulk, Operation, Statement
from .rows import json_array

log = logging.getLogger("windlass")

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(ApiKey).decode


def put(keys: Sequence[ApiKey]) -> Operation[None]:
    # In one order everywhere, as all who change several rows do; of one id, the last counts.
    last = {key.id: key for key in (*keys, *([HAD_KEYS] if keys else ()))}
    if last:
        yield Bulk("put_key", [(id, _encode(last[id])) for id in sorted(last)])


def listed() -> Operation[Sequence[ApiKey]]:
    """All of them but damaged ones, which so let nobody in."""
    return without_marks((yield from _records()))


def drop(ids: Sequence[str]) -> Operation[frozenset[str]]:
    named = sorted({id for id in ids if not is_mark(id)})
    if not named:
        return frozenset()
    rows = yield Statement("known_keys", {"ids": json_array(named)})
    known = sorted(id for (id,) in rows)
    if known:
        yield Bulk("drop_key", [(id,) for id in known])
        # Where a version before this one has put them, it is not there yet.
        yield Bulk("put_key", [(HAD_KEYS.id, _encode(HAD_KEYS))])
    return frozenset(known)


def had_any() -> Operation[bool]:
    return tells_of_keys(id for id, _ in (yield Statement("keys")))


def end_logins(logins: Mapping[str, int], now: int) -> Operation[None]:
    over = past_in((yield from _records()), now)
    if over:
        yield Bulk("drop_key", [(id,) for id in sorted(over)])
    if logins:
        yield Bulk("put_key", [(mark.id, _encode(mark)) for mark in marks_of(logins)])


def ended_logins(now: int) -> Operation[Mapping[str, int]]:
    return logins_in((yield from _records()), now)


def _records() -> Operation[Sequence[ApiKey]]:
    rows = yield Statement("keys")
    return [key for id, record in rows if (key := _key(id, record)) is not None]


def _key(id: str, record: bytes) -> ApiKey | None:
    try:
        key = _decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as error:
        log.warning("the key %r is damaged and left out: %s", id, error)
        return None
    return key if key.id == id else None
