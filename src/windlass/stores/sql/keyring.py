"""Keys of the API as rows: one record each, which only we read."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

import msgspec

from ...core.apikey import ApiKey
from .operation import Bulk, Operation, Statement
from .rows import json_array

log = logging.getLogger("windlass")

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(ApiKey).decode


def put(keys: Sequence[ApiKey]) -> Operation[None]:
    # In one order everywhere, as all who change several rows do; of one id, the last counts.
    last = {key.id: key for key in keys}
    if last:
        yield Bulk("put_key", [(id, _encode(last[id])) for id in sorted(last)])


def listed() -> Operation[Sequence[ApiKey]]:
    """All of them but damaged ones, which so let nobody in."""
    rows = yield Statement("keys")
    return [key for id, record in rows if (key := _key(id, record)) is not None]


def drop(ids: Sequence[str]) -> Operation[frozenset[str]]:
    if not ids:
        return frozenset()
    rows = yield Statement("known_keys", {"ids": json_array(sorted(set(ids)))})
    known = sorted(id for (id,) in rows)
    if known:
        yield Bulk("drop_key", [(id,) for id in known])
    return frozenset(known)


def _key(id: str, record: bytes) -> ApiKey | None:
    try:
        key = _decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError) as error:
        log.warning("the key %r is damaged and left out: %s", id, error)
        return None
    return key if key.id == id else None
