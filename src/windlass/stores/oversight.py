"""What people ask of a store: the part of the contract that `windlass.admin` and the APIs stand on.

The rules of `contract` hold here too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ..core.attempts import AttemptRecord
from ..core.lane import LanePage
from ..core.model import JobQuery, Page, QueueStats
from ..core.states import DELETABLE, State
from ..core.stats import StatPoint
from ..core.workers import Order, Term, WorkerInfo


class Oversight(Protocol):
    """Looking at jobs, and changing them by hand."""

    async def find(self, query: JobQuery) -> Page:
        """List jobs, state by state in the order asked (all states if none was).

        Waiting jobs come queue by queue: pending ones in the order in which they will run,
        scheduled and retry ones by due time. Active jobs come in the order in which they
        were claimed (jobs of one claim by id), blocked ones by id, finished ones newest
        first. A job that stays where it is is listed exactly once. A cursor that this store
        did not give is `InvalidOption`. A store that is several servers leaves out what is on
        those that are away.
        """

    async def queues(self) -> Sequence[QueueStats]:
        """Every queue that has jobs or is paused, by name, with its counts."""

    async def oldest(self, queues: Sequence[str]) -> Mapping[str, int]:
        """For each queue with pending jobs, the earliest `due` of them: since when one waits.

        At most one job is looked at for each priority that the queue has in use: the first in
        line. Within a priority that is the one that has been pending longest; a job that was
        released to the front, or takes turns for a group, may have an earlier `due` than that.
        """

    async def lanes(self, limit: int, cursor: str | None = None) -> LanePage:
        """The lanes of all queues, by queue and name, with their limits and counts.

        A lane is listed while it has jobs, or until `prune` has dropped it. A count of
        `MOST_COUNTED` says that there are at least so many. A page may be short, even empty,
        while it has a cursor. A cursor that this store did not give is `InvalidOption`.
        """

    async def risks(self) -> Sequence[str]:
        """What could cost jobs as the engine is set up, one sentence each; none is a good answer.

        Said as far as the engine lets itself be asked.
        """

    async def workers(self) -> Sequence[WorkerInfo]:
        """The workers that were heard of within their `ttl`, by id."""

    async def leaders(self) -> Mapping[str, Term]:
        """Who was elected to what, by role; the term of some may be over.

        One that resigned is not among them.
        """

    async def direct(self, workers: Sequence[str], order: Order) -> frozenset[str]:
        """Leave an order for workers on the list; the ids that were there.

        It stands until another takes its place, and goes with the worker's entry. A worker that
        was not heard of within its `ttl` has none.
        """

    async def attempts(self, ids: Sequence[str]) -> Mapping[str, Sequence[AttemptRecord]]:
        """What was kept of the attempts of these jobs, oldest first; without any, it is missing.

        They go when their time is over or the job is deleted, and not with the job otherwise.
        """

    async def stats(self, queues: Sequence[str], step: int, since: int) -> Sequence[StatPoint]:
        """What workers have counted for these queues ("" is all together), by time and queue.

        The buckets of that step which begin at or after `since`; those without a count, or kept
        long enough, are left out. A step that is not kept is `InvalidOption`.
        """

    async def prioritize(self, ids: Sequence[str], priority: int) -> frozenset[str]:
        """Give jobs that wait another priority; the ids that have it by now.

        They are blocked, pending, scheduled or retry. A pending one goes to the end of the line of
        its new priority, several of them in the order given; in its lane a job keeps its place
        among those of its priority. One that had this priority before stays where it is.
        """

    async def reschedule(
        self, ids: Sequence[str], delay: int = 0, due: int | None = None
    ) -> frozenset[str]:
        """Give pending, scheduled or retry jobs another time; the ids that were.

        `due` is a moment and wins over `delay`. A job whose new time has come is pending, at
        the end of the line; a pending one whose time is to come is scheduled. Attempts so far
        stay counted.
        """

    async def cancel(self, ids: Sequence[str]) -> frozenset[str]:
        """Cancel live jobs; the ids that were. An active one loses its lease by it."""

    async def replay(self, ids: Sequence[str]) -> frozenset[str]:
        """Make dead or cancelled jobs pending again, with all their attempts; the ids that were.

        Goes to the end of the line, or is blocked again by those of its parents that are live.
        Refused while another job holds the unique key.
        """

    async def delete(
        self,
        ids: Sequence[str],
        states: frozenset[State] = DELETABLE,
        *,
        moved: bool = False,
    ) -> frozenset[str]:
        """Remove jobs in one of these states and all trace of them; the ids that were.

        An active job is always refused. To its dependents a live one has failed by it, unless
        it was `moved` to another store: then they wait on, to be moved as well.
        """

    async def pause(self, queue: str) -> None:
        """Stop claims from `queue`, for every worker, until it is resumed."""

    async def resume(self, queue: str) -> None:
        """Allow claims from `queue` again and wake who waits for it."""
