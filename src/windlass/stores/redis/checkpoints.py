"""Keeping what attempts leave for the next one, in the shards of their jobs."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.model import Lease
from ...errors import StoreUnavailable
from .lookout import Lookout
from .shard import Shard


async def checkpoint(
    shards: Sequence[Shard], lookout: Lookout, states: Sequence[tuple[Lease, bytes]]
) -> frozenset[str]:
    """Only the shard that has a job gets what it leaves, which may be much."""
    if not states:
        return frozenset()
    if len(shards) == 1:
        return await shards[0].checkpoint(states)
    ids = [lease.id for lease, _ in states]
    found = await lookout.ask(range(len(shards)), lambda number: shards[number].located(ids))
    held: set[str] = set()
    for number, here in found.items():
        own = [(lease, state) for lease, state in states if lease.id in here]
        if own:
            held |= await shards[number].checkpoint(own)
    if len(found) < len(shards) and not set(ids) <= set().union(*found.values()):
        raise StoreUnavailable(
            "Redis does not answer where some of these jobs are, and their checkpoints were not "
            "kept; see that all of its masters run and can be reached from here, then try again."
        )
    return frozenset(held)
