"""Jobs that workers in other languages cannot run, and the server runs for them.

The jobs that stand for workflows, those that came too late to be started, and records that nobody
can read. They come out of the same claim as all others. Here are the parts of a worker that run
what was claimed, without the one that claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..app import Windlass
from ..config import WorkerSettings
from ..core.clock import to_ms
from ..core.model import UNREADABLE, Job, Lease, Transition
from ..core.outcome import Unknown, decide, has_expired
from ..errors import CorruptRecord
from ..middleware import Stack
from ..observe.joblog import JobLog
from ..observe.ledger import Ledger
from ..observe.logs import NOTHING
from ..stores.contract import Store
from ..task import Registry
from ..worker.acker import Acker
from ..worker.attempt import Surroundings
from ..worker.checkpoints import StoredCheckpoints
from ..worker.executors import Executors
from ..worker.hand import Hand
from ..worker.heartbeat import Heartbeat
from ..worker.logbook import Logbook
from ..worker.reporter import Reporter
from ..worker.runner import Runner
from ..worker.signals import StoredSignals
from ..worker.transactions import Transactions
from ..worker.workflows import StoredWorkflows
from .checked import SERVED_TASKS

WORKER: Final = "server"
"""Who ran an attempt, where the claim does not say."""

AT_ONCE: Final = 100
LEASE: Final = 30.0
LAST_WORDS: Final = 5.0
"""Seconds in which what has ended must be written before a server stops."""


class Chores:
    """Runs jobs of Windlass itself, for as long as the server runs."""

    def __init__(self, app: Windlass, store: Store, ledger: Ledger, max_result: int) -> None:
        codecs, events = app.codecs, app.registry.events
        self._store = store
        self._codecs = codecs
        self._patience = to_ms(WorkerSettings().unknown_patience)
        self._hand = Hand()
        self._reporter = Reporter(store)
        self._logbook = Logbook(
            store,
            self._hand,
            WORKER,
            to_ms(WorkerSettings().attempts_keep),
            NOTHING,
            lambda claim: self._runner.runs(claim),
        )
        self._acker = Acker(store, self._hand, self._reporter, events, ledger, self._logbook)
        self._heartbeat = Heartbeat(store, LEASE, self._hand, self._lose, events)
        self.workflows = StoredWorkflows(store, codecs, Registry())
        self._runner = Runner(
            Registry(),
            AT_ONCE,
            1,
            max_result,
            self._patience,
            Surroundings(
                Executors(1),
                Stack(),
                {},
                self._reporter.put,
                Transactions(store, codecs, max_result, self._acker.forget),
                StoredCheckpoints(store, codecs, max_result, self._lose),
                self.workflows,
                StoredSignals(store, codecs),
                events,
                self._logbook,
                JobLog(0, ledger.completed),
            ),
            self._acker,
        )
        self._services = (self._reporter, self._acker, self._logbook, self._heartbeat)

    def start(self) -> None:
        for service in self._services:
            service.start()

    async def stop(self) -> None:
        """Give back what does not end at once, and write what has ended."""
        self._runner.waiting.release()
        await self._runner.drain(LAST_WORDS)
        await self._acker.drain(LAST_WORDS)
        for service in self._services:
            await service.stop()
        await self._logbook.drain(LAST_WORDS)

    def is_for(self, job: Job) -> bool:
        """Whether a claimed job is one that no other worker is to get."""
        spec = job.spec
        return spec.task in SERVED_TASKS or spec.content_type == UNREADABLE or has_expired(job)

    async def take(self, jobs: Sequence[Job]) -> None:
        """Run claimed jobs. The lease that a worker asked for may be too short for that."""
        await self._store.renew([job.lease for job in jobs], to_ms(LEASE))
        self._hand.take(jobs)
        for job in jobs:
            if self._is_unreadable_here(job):
                # A worker that has the codec may come; without one it is dead in the end.
                self._acker.put(decide(job, Unknown(self._patience)))
            else:
                self._runner.deliver([job])

    def end(self, job: Job, move: Transition) -> None:
        """Have it written what became of a claimed job, for as long as it takes."""
        self._hand.take([job])
        self._acker.put(move)

    def _is_unreadable_here(self, job: Job) -> bool:
        if job.spec.task not in SERVED_TASKS:
            return False
        try:
            self._codecs.get(job.spec.content_type)
        except CorruptRecord:
            return True
        return False

    def _lose(self, lease: Lease) -> None:
        self._runner.lose(lease)
