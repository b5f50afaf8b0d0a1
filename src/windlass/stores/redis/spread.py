"""Which shard has what.

A queue is in one shard, by its name; a queue with partitions in as many, by the ids of its jobs.
The names that must be unique everywhere, ids and unique keys, each have a home.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterable, Mapping, Sequence

from ...core.model import Job, NewJob


class Spread:
    """Where queues and names are, among so many shards."""

    def __init__(self, shards: int, partitions: Mapping[str, int]) -> None:
        self.shards = shards
        self.partitions = dict(partitions)

    def of(self, job: NewJob | Job) -> int:
        """The shard of a job. A lane is in one, so of a queue with partitions it decides."""
        return self.of_job(job.queue, job.id if job.spec.lane is None else job.spec.lane.name)

    def of_job(self, queue: str, id: str) -> int:
        """The shard of a job without a lane."""
        if self.shards == 1:
            return 0
        number = self.partitions.get(queue, 1)
        part = crc32(id.encode()) % number if number > 1 else 0
        return (crc32(queue.encode()) + part) % self.shards

    def of_queue(self, queue: str) -> Sequence[int]:
        """Every shard that has jobs of a queue."""
        if self.shards == 1:
            return (0,)
        first = crc32(queue.encode())
        number = min(self.partitions.get(queue, 1), self.shards)
        return [(first + part) % self.shards for part in range(number)]

    def by_shard(self, queues: Iterable[str]) -> dict[int, list[str]]:
        """Every shard that has jobs of these queues, with the ones that it has."""
        found: dict[int, list[str]] = {}
        for queue in queues:
            for number in self.of_queue(queue):
                found.setdefault(number, []).append(queue)
        return found

    def home(self, name: str) -> int:
        """The shard that says who has a name."""
        return 0 if self.shards == 1 else crc32(name.encode()) % self.shards
