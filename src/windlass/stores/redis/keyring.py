"""The keys of the API: one shard has them all."""

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
from .record import encode
from .shard import Shard

log = logging.getLogger("windlass")

KEY: Final = "keys"

_decode = msgspec.msgpack.Decoder(ApiKey).decode


async def put_keys(shard: Shard, keys: Sequence[ApiKey]) -> None:
    await _put(shard, [*keys, HAD_KEYS] if keys else ())


async def keys(shard: Shard) -> list[ApiKey]:
    return without_marks(await _records(shard))


async def drop_keys(shard: Shard, ids: Sequence[str]) -> frozenset[str]:
    words: list[str | bytes] = [HAD_KEYS.id, encode(HAD_KEYS)]
    words += [id for id in ids if not is_mark(id)]
    return frozenset(id.decode() for id in await shard.run_on("drop_keys", [KEY], words))


async def had_keys(shard: Shard) -> bool:
    return tells_of_keys(id.decode(errors="replace") for id in await shard.send("HKEYS", KEY))


async def end_logins(shard: Shard, logins: Mapping[str, int]) -> None:
    over = past_in(await _records(shard), await shard.time())
    if over:
        await shard.send("HDEL", KEY, *(id.encode() for id in over))
    await _put(shard, marks_of(logins))


async def ended_logins(shard: Shard) -> Mapping[str, int]:
    return logins_in(await _records(shard), await shard.time())


async def _put(shard: Shard, records: Sequence[ApiKey]) -> None:
    words = [word for key in records for word in (key.id.encode(), encode(key))]
    if words:
        await shard.send("HSET", KEY, *words)


async def _records(shard: Shard) -> list[ApiKey]:
    found = await shard.send("HGETALL", KEY)
    read = (_read(*pair) for pair in zip(found[::2], found[1::2], strict=True))
    return sorted((key for key in read if key is not None), key=lambda key: key.id)


def _read(id: bytes, raw: bytes) -> ApiKey | None:
    try:
        return _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Nobody gets in by it, and the others still do.
        log.warning("the key %r is damaged and left out: %s", id.decode(errors="replace"), error)
        return None
