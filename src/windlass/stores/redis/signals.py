"""Leaving word for a job, in whichever shard it is."""

from __future__ import annotations

from collections.abc import Sequence

from .changes import locate
from .lookout import Lookout
from .record import pack_id
from .shard import Shard


async def signal(
    shards: Sequence[Shard], lookout: Lookout, id: str, name: str, word: bytes
) -> bool:
    """Whether the job has this word now."""
    for shard, queues in await locate(shards, lookout, [id]):
        words = [pack_id(id), name.encode(), word]
        return bool(await shard.run("signal", [queues[id]], words))
    return False
