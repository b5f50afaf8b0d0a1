"""The keys of the API: one shard has them all."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

import msgspec

from ...core.apikey import ApiKey
from .record import encode
from .shard import Shard

log = logging.getLogger("windlass")

KEY: Final = "keys"

_decode = msgspec.msgpack.Decoder(ApiKey).decode


async def put_keys(shard: Shard, keys: Sequence[ApiKey]) -> None:
    words = [word for key in keys for word in (key.id.encode(), encode(key))]
    if words:
        await shard.send("HSET", KEY, *words)


async def keys(shard: Shard) -> list[ApiKey]:
    found = await shard.send("HGETALL", KEY)
    read = (_read(*pair) for pair in zip(found[::2], found[1::2], strict=True))
    return sorted((key for key in read if key is not None), key=lambda key: key.id)


async def drop_keys(shard: Shard, ids: Sequence[str]) -> frozenset[str]:
    return frozenset(id.decode() for id in await shard.run_on("drop_keys", [KEY], ids))


def _read(id: bytes, raw: bytes) -> ApiKey | None:
    try:
        return _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Nobody gets in by it, and the others still do.
        log.warning("the key %r is damaged and left out: %s", id.decode(errors="replace"), error)
        return None
