"""The names of keys: `NAMESPACE:{TAG}:…`, where a tag is a shard and so a slot."""

from __future__ import annotations

from binascii import crc_hqx
from functools import lru_cache
from itertools import count
from typing import Final

SLOTS: Final = 16_384
SHARDS: Final = 16
"""Of a Cluster. As many masters can share the work; a queue is in one shard."""

FIXED: Final = (
    "jobs",
    "meta",
    "counts",
    "work",
    "leases",
    "claims",
    "held",
    "unique",
    "large",
    "results",
    "errors",
    "progress",
    "expiry",
    "completed",
    "dead",
    "cancelled",
    "names",
    "outbox",
    "journal",
    "checkpoints",
    "blocked",
    "waits",
    "dependents",
    "endings",
    "traits",
    "windows",
    "mail",
    "lanes",
    "entered",
    "grouped",
    "idle",
)
"""In the order of `lua/shared/keys.lua`."""


OTHERS: Final = (
    "schedules",
    "ticks",
    "keys",
    "terms",
    "workers",
    "heard",
    "orders",
    "partitions",
)
"""Those that only some operations use."""

STRINGS: Final = frozenset({"token", "tallied"})
SORTED: Final = frozenset(
    {
        *("work", "leases", "claims", "expiry", "completed", "dead", "cancelled", "blocked"),
        *("waits", "dependents", "endings", "windows", "entered", "grouped", "idle", "heard"),
        *("line", "later"),
    }
)
"""By their type; all others are hashes, but for the journal."""


def slot_of(text: str) -> int:
    """The slot of a hash tag, as Redis Cluster computes it."""
    return crc_hqx(text.encode(), 0) % SLOTS


def attempts_of(id: str) -> str:
    """The name, within a shard, of what was kept of a job's attempts."""
    return f"attempts:{id}"


def tallied_by(worker: str) -> str:
    """That of what says which tally of a worker was the last."""
    return f"tallied:{worker}"


def bucket_of(step: int, at: int, queue: str) -> str:
    """That of what was counted for a queue since a moment."""
    return f"stats:{step}:{at}:{queue}"


@lru_cache
def tags(shards: int) -> tuple[str, ...]:
    """A tag for each shard, chosen so that their slots are evenly spread."""
    if shards == 1:
        return ("0",)
    width = SLOTS // shards
    names = ((f"{shard}-{n}" for n in count()) for shard in range(shards))
    return tuple(
        next(name for name in candidates if slot_of(name) // width == shard)
        for shard, candidates in enumerate(names)
    )


class Keys:
    """The keys of one shard."""

    def __init__(self, namespace: str, tag: str) -> None:
        self.slot = slot_of(tag)
        self._prefix = f"{namespace}:{{{tag}}}:"
        self.fixed = [self.of(name) for name in FIXED]
        self._for_one: dict[str, tuple[str, ...]] = {}
        self._pairs: dict[str, tuple[str, str]] = {}

    def of(self, name: str) -> str:
        return self._prefix + name

    def kind_of(self, key: str) -> str:
        """The type that Redis is to know a key by."""
        name, _, rest = key.removeprefix(self._prefix).partition(":")
        if name in STRINGS and rest:
            return "string"
        if name in SORTED and bool(rest) is (name in ("line", "later")):
            return "zset"
        return "stream" if name == "journal" else "hash"

    def token(self, worker: str) -> str:
        """Where the last claim of a worker is noted."""
        return f"{self._prefix}token:{worker}"

    def for_one(self, queue: str) -> tuple[str, ...]:
        """What it takes to insert one plain job."""
        keys = self._for_one.get(queue)
        if keys is None:
            if len(self._for_one) > MOST_REMEMBERED:
                self._for_one.clear()
            keys = self._for_one[queue] = (*self.fixed[:4], self.pair(queue)[0])
        return keys

    def pair(self, queue: str) -> tuple[str, str]:
        """The line and the later set of a queue."""
        pair = self._pairs.get(queue)
        if pair is None:
            if len(self._pairs) > MOST_REMEMBERED:
                self._pairs.clear()
            pair = (f"{self._prefix}line:{queue}", f"{self._prefix}later:{queue}")
            self._pairs[queue] = pair
        return pair


MOST_REMEMBERED: Final = 20_000
