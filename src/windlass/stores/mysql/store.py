"""The store on MySQL and MariaDB: a database, and a watch that asks it for work."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import count
from time import monotonic
from typing import Final

from ...core.clock import Clock
from ...core.model import Job, Lease, NewJob, Receipt, Transition
from ...core.states import FINISHED, State
from ...errors import StoreUnavailable
from ..doubts import Doubts
from ..sql.dependents import Ended, ids_of
from ..sql.operation import Plan, Statement
from ..sql.promotion import Step
from ..sql.renewal import renewed
from ..sql.restore import restore
from ..sql.rows import TOP_PRIORITY, json_array, to_jobs
from ..sql.store import SqlStore
from . import claim, finish, insert, renew
from .database import STORE, MysqlDatabase
from .dialect import dialect_of
from .fold import BATCH, MOST_ROUNDS, OFTEN, fold
from .gapless import Gapless
from .horizon import Horizon
from .loans import MysqlLoans
from .url import Settings
from .watch import Watch

log = logging.getLogger("windlass")

PATIENCE: Final = 1
"""Seconds that a finish waits for jobs that others have, once it has written the others."""

MOST_LOST: Final = 8
"""Of claims whose answer was lost, the last so many are asked for again."""

FEW: Final = 10
"""A claim may look at so many jobs, however large the last ones were."""


class MysqlStore(SqlStore):
    """Jobs in tables of one database, shared by any number of processes."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self._clock = clock
        self._mysql = MysqlDatabase(settings, STORE, clock)
        self._watch = Watch(self._until_work)
        self._unfolded = 0
        self._size = 1
        """of the payloads that were claimed last: the server reads all of a job that a claim looks
        at, so it is to look at no more jobs than it can give"""
        self._horizon = Horizon()
        self._doubts = Doubts()
        self._lost: dict[str, Sequence[int]] = {}
        """the fences of claims by a worker whose answer was lost for longer than patience"""
        self._busy = Doubts()
        """claims that other transactions had for longer than a moment"""
        self.dialect = dialect_of(self._mysql.queries, settings.database, clock)
        self.loans = MysqlLoans(settings)
        super().__init__(self._mysql)

    async def close(self) -> None:
        await super().close()
        self._wake()

    async def ping(self) -> None:
        await self._mysql.ask(Statement("clock"))

    def inserting(self, jobs: Sequence[NewJob]) -> Plan[Sequence[Receipt]]:
        # The transaction is not ours, and may be of any isolation and last for any time.
        return lambda now: Gapless(jobs).run(insert.insert(jobs, now))

    def _accepting(self, jobs: Sequence[NewJob]) -> Plan[Sequence[Receipt]]:
        return lambda now: insert.insert(jobs, now)

    def restoring(self, jobs: Sequence[Job]) -> Plan[Sequence[Receipt]]:
        return lambda _: restore(jobs)

    def finishing(self, transitions: Sequence[Transition]) -> Plan[frozenset[str]]:
        return lambda now: ids_of(finish.finish(transitions, now))

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        if not jobs:
            return ()
        if insert.is_plain(jobs):
            receipts = await self._mysql.hurry(
                lambda now: insert.insert_plain(jobs, now),
                lambda now: insert.insert(jobs, now, again=True),
            )
        else:
            tries = count()
            receipts = await self._mysql.write(
                lambda now: insert.insert(jobs, now, again=next(tries) > 0)
            )
        if self._horizon.is_needed:
            for job in jobs:
                self._horizon.put(job.queue, TOP_PRIORITY - job.priority)
        self._watch.wake()
        await self._note_change()
        return receipts

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        if not ids:
            return {}
        [rows] = await self._mysql.ask(Statement("get", {"ids": ids}))
        return {job.id: job for job in to_jobs(rows)}

    async def _claim_once(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int,
        step: Step,
    ) -> Sequence[Job]:
        began = monotonic()
        spots = self._horizon.spots(queues, began)
        limit = min(limit, max(FEW, 2 * most_bytes // self._size))
        moment = None if self._clock is None else self._clock()
        lost = self._lost.get(worker, ())
        call = claim.Claim(
            queues,
            limit,
            lease,
            worker,
            most_bytes,
            spots,
            ends={},
            tried=[*lost],
            lost=frozenset(lost),
            step=step,
            moment=moment,
        )
        try:
            jobs = await self._mysql.write(lambda now: claim.claim(call, now), claim.foreseen(call))
        except BaseException:
            if call.tried:
                self._lost[worker] = call.tried[-MOST_LOST:]
            raise
        self._lost.pop(worker, None)
        if not step.full:
            self._horizon.note(spots, call.ends, len(jobs), began, monotonic())
        if jobs:
            self._size = _size_of(jobs)
            await self._note_change()
        return jobs

    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        if not leases:
            return frozenset()
        return await renewed(
            lambda some: self._mysql.write(
                lambda now: renew.renew(some, lease, now), renew.foreseen(some)
            ),
            leases,
        )

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        if not transitions:
            return frozenset()
        again = self._doubts.any(transitions)
        try:
            held, left = await self._finish_free(transitions, again)
        except BaseException:
            self._doubts.add(transitions)
            raise
        self._doubts.forget(transitions)
        if left:
            raise StoreUnavailable(
                f"Another transaction has {len(left):,} of these jobs, or their lanes: end it, and "
                "keep transactions that enqueue short.",
                settled=frozenset((each.id, each.fence) for each in transitions) - left,
                held=held,
                busy=True,
            )
        return held

    async def _finish_free(
        self, transitions: Sequence[Transition], again: bool
    ) -> tuple[frozenset[str], frozenset[tuple[str, int]]]:
        """The ids that held, and the claims that others have even after a moment."""
        ended = await self._finish_once(transitions, again)
        held = ended.ids
        left = [each for each in transitions if (each.id, each.fence) in ended.busy]
        # Most who have a job are done in a moment; of who was not, it is known.
        if left and not self._busy.any(left):
            try:
                held |= (await self._finish_once(left, again, soon=True)).ids
                left = []
            except StoreUnavailable as error:
                if not error.busy:
                    raise
        self._busy.forget(transitions)
        self._busy.add(left)
        return held, frozenset([(each.id, each.fence) for each in left])

    async def _finish_once(
        self, transitions: Sequence[Transition], doubtful: bool, *, soon: bool = False
    ) -> Ended:
        """Pass by what others have, or, with `soon`, wait for it a little."""
        tries = count(1 if doubtful else 0)
        if soon:
            ended = await self._mysql.write_soon(
                lambda now: finish.finish(transitions, now, again=next(tries) > 0), PATIENCE
            )
        else:
            ended = await self._mysql.write(
                lambda now: finish.finish_free(transitions, now, again=next(tries) > 0),
                finish.foreseen(transitions),
            )
        # What was completed is no news to anyone who waits.
        if any(each.state is State.PENDING for each in transitions):
            self._horizon.clear()
        if ended.released or any(each.state not in FINISHED for each in transitions):
            self._watch.wake()
        await self._note_change()
        if ended.owing:
            await self._rest.begin()
        return ended

    async def prune(self, limit: int) -> int:
        pruned = await super().prune(limit)
        await self._add_up()
        return pruned

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        await self._watch.wait(queues, timeout)

    def _wake(self) -> None:
        self._horizon.clear()
        self._watch.wake()

    async def _until_work(self, queues: Sequence[str]) -> float | None:
        """Seconds until a job can be claimed: 0 for now, None for not in sight."""
        if queues:
            asked = Statement("ready", {"queues": json_array(list(queues))})
        else:
            asked = Statement("ready_anywhere")
        [[found], [[moment]]] = await self._mysql.ask(asked, Statement("clock"))
        pending, *dues = found
        if pending:
            return 0
        now = moment if self._clock is None else self._clock()
        soonest = [due for due in dues if due is not None]
        return max(0, (min(soonest) - now) / 1000) if soonest else None

    async def _note_change(self) -> None:
        """Add up what was counted, now and then: else it would be the more, the longer we run."""
        self._unfolded += 1
        if self._unfolded >= OFTEN:
            self._unfolded = 0
            try:
                await self._add_up()
            except StoreUnavailable as error:
                # What was asked for is done; this can be done by anybody, at any time.
                log.warning("counts are not added up now, but later: %s", error)

    async def _add_up(self) -> None:
        for _ in range(MOST_ROUNDS):
            if await self._mysql.write(lambda _: fold()) < BATCH:
                return


def _size_of(jobs: Sequence[Job]) -> int:
    """How many bytes of payload these jobs have, each."""
    return max(sum([len(job.spec.payload) for job in jobs]) // len(jobs), 1)
