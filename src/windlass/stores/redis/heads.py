"""Since when queues have had jobs that wait: by those that stand first in their priority."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .lookout import Lookout
from .shard import Shard
from .spread import Spread


async def oldest(
    shards: Sequence[Shard], spread: Spread, lookout: Lookout, queues: Sequence[str]
) -> Mapping[str, int]:
    """The earliest times of queues, over all parts that answer."""
    stops = spread.by_shard(dict.fromkeys(queues))
    answers = await lookout.ask(stops, lambda number: shards[number].oldest(stops[number]))
    found: dict[str, int] = {}
    for answer in answers.values():
        for queue, due in answer.items():
            found[queue] = min(due, found.get(queue, due))
    return found
