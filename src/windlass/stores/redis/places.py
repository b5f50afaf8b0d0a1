"""Places in line, made unique over all shards, so that listings can be merged."""

from __future__ import annotations

from typing import NamedTuple


class Places(NamedTuple):
    """The places of one shard of several."""

    shard: int
    shards: int

    def wide(self, place: int) -> int:
        """A place as one of all shards: no other shard has the same."""
        return place * self.shards + self.shard

    def owns(self, wide: int) -> bool:
        """Whether a place of all shards is one of this."""
        return wide % self.shards == self.shard

    def after(self, wide: int) -> int:
        """The last place here that does not come after one of all shards."""
        return (wide - self.shard) // self.shards

    def before(self, wide: int) -> int:
        """The first place here that does not come before one of all shards."""
        return -((self.shard - wide) // self.shards)
