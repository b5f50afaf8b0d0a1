"""What a queue gives: how many of its jobs are blocking ones, as far as was seen lately.

A store hands out the first jobs of a queue, whatever they are. So that a worker claims what it has
slots for, and none of its queues waits behind another one's jobs, queues are asked in two groups:
those that would fill the threads first, and those that would fill the event loop first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ..core.model import Job
from ..core.rotation import Rotation

UNKNOWN: Final = 0.5
"""Of a queue that has given nothing yet."""

MEMORY: Final = 20
"""As many jobs as this are the past; what a queue gives may change."""

FEW: Final = 0.02
"""A share so small is none, and one that lacks so little is all."""

MOST_QUEUES: Final = 10_000


class Ask(NamedTuple):
    """One claim: the queues and the most that each may give, and how many jobs in all."""

    caps: dict[str, int]
    room: int
    probes: bool | None = None
    """there is no slot for jobs that block, or for those that do not: whether the first is one"""


class Shares:
    """Learns from claims."""

    def __init__(self) -> None:
        self._shares: dict[str, float] = {}

    def of(self, queue: str) -> float:
        """The part of its jobs that is blocking."""
        return self._shares.get(queue, UNKNOWN)

    def note(self, awaiting: Iterable[Job], blocking: Iterable[Job]) -> None:
        """Learn from jobs that came together."""
        counts: dict[str, list[int]] = {}
        for job in awaiting:
            counts.setdefault(job.queue, [0, 0])[0] += 1
        for job in blocking:
            counts.setdefault(job.queue, [0, 0])[1] += 1
        if len(self._shares) > MOST_QUEUES:
            self._shares.clear()
        for queue, (await_, block) in counts.items():
            number, before = await_ + block, self.of(queue)
            share = before + (block / number - before) * min(number / MEMORY, 1.0)
            self._shares[queue] = 0.0 if share < FEW else 1.0 if share > 1 - FEW else share

    def asks(self, rotation: Rotation, awaiting: int, blocking: int) -> list[Ask]:
        """The claims to make, with room for so many jobs of each kind."""
        by_threads = {queue for queue in rotation.queues if self._fills(queue, awaiting, blocking)}
        by_loop = {queue for queue in rotation.queues if queue not in by_threads}
        found = []
        if by_threads and blocking:
            found.append(self._ask(rotation, by_threads, blocking, blocks=True))
        if by_loop and awaiting:
            found.append(self._ask(rotation, by_loop, awaiting, blocks=False))
        return found

    def probe(self, rotation: Rotation, held: Iterable[str], *, blocks: bool) -> list[Ask]:
        """A claim from queues that are not asked while all slots of one kind are taken.

        Their first jobs may be of the other kind all the same; those of `held` are known not to be.
        """
        among = {queue for queue in rotation.queues if self._part(queue, blocks)}.difference(held)
        if not among:
            return []
        return [self._ask(rotation, among, 1, blocks=blocks)._replace(probes=blocks)]

    def _part(self, queue: str, blocks: bool) -> float:
        return self.of(queue) if blocks else 1 - self.of(queue)

    def _fills(self, queue: str, awaiting: int, blocking: int) -> bool:
        """Whether the jobs of this queue would take the threads before they take the loop."""
        share = self.of(queue)
        return share > 0 and blocking * (1 - share) <= awaiting * share

    def _ask(self, rotation: Rotation, among: set[str], room: int, *, blocks: bool) -> Ask:
        """A claim that most likely brings no more than `room` jobs of one kind."""
        most = {queue: max(1, int(room / self._part(queue, blocks))) for queue in among}
        total = max(most.values())
        caps = rotation.caps(total, among)
        return Ask({queue: min(cap, most[queue]) for queue, cap in caps.items()}, total)
