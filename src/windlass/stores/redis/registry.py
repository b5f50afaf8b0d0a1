"""Leaders and workers: a few small things that one shard keeps for all."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...core.workers import Term, WorkerInfo
from .record import encode
from .shard import Shard

replace = msgspec.structs.replace

_decode = msgspec.msgpack.Decoder(WorkerInfo).decode


async def elect(shard: Shard, role: str, holder: str, ttl: int) -> Term | None:
    won = await shard.run_on("elect", ["terms"], [role, holder, ttl])
    return None if won is None else Term(holder, *won)


async def resign(shard: Shard, role: str, holder: str) -> None:
    await shard.run_on("resign", ["terms"], [role, holder])


async def beat(shard: Shard, worker: WorkerInfo, ttl: int) -> None:
    await shard.run_on("beat", ["workers", "heard"], [worker.id, encode(worker), ttl])


async def leave(shard: Shard, worker: str) -> None:
    await shard.run_on("leave", ["workers", "heard"], [worker])


async def workers(shard: Shard) -> Sequence[WorkerInfo]:
    found = await shard.run_on("workers", ["workers", "heard"])
    infos = [
        replace(_decode(entry[8:]), seen_at=int.from_bytes(entry[:8], "big")) for entry in found
    ]
    return sorted(infos, key=lambda info: info.id)
