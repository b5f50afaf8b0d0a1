"""A worker: its parts, and the order in which they start and stop.

Started from the bottom up, each part before the ones that hand work to it:

    resources, start-up hooks -> upkeep (leader, rescuer, unblocker, ticker, pruner)
    -> heartbeat and presence, on a thread of their own -> reporter and logbook -> acker
    -> fetcher

Stopped the other way round, so that whoever produces work ends before whoever takes it:

1. the fetcher stops claiming; jobs that were claimed but not started are released;
2. running jobs get `shutdown_timeout` seconds, then they are cancelled and released;
3. the acker writes everything that is left to write, and after it the logbook;
4. only then the heartbeat ends, so no lease was in danger meanwhile;
5. the upkeep ends, and its leadership is given up for another worker to take;
6. the shutdown hooks run, the last one first, and the resources are closed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import ClassVar, Final, Literal

from msgspec.structs import replace

from ..config import WorkerSettings
from ..core.clock import system_clock, to_ms
from ..core.codec import MAX_PAYLOAD, Codecs
from ..core.ids import new_id
from ..core.model import Job, Lease
from ..core.workers import Order, WorkerInfo
from ..observe.endpoint import Endpoint
from ..observe.fields import JOBS
from ..observe.guarded import guard
from ..observe.joblog import JobLog
from ..observe.ledger import Ledger
from ..observe.logs import threshold
from ..service import Service
from ..stores.contract import Store
from ..task import Registry
from .acker import Acker
from .aside import Aside, Connect
from .attempt import Surroundings
from .burst import Burst
from .checkpoints import StoredCheckpoints
from .executors import Executors
from .executors.children import ChildLimits
from .fetcher import Fetcher
from .hand import Hand
from .heartbeat import Heartbeat
from .lifespan import Lifespan
from .logbook import Logbook
from .memory import resident
from .orders import Orders
from .presence import Presence
from .reporter import Reporter
from .runner import Runner
from .serving import left_out, served_queues
from .shutdown import stop_on_signals
from .signals import StoredSignals
from .tallier import Tallier, Unsent
from .transactions import Transactions
from .workflows import StoredWorkflows

log = logging.getLogger("windlass")

SHORTEST_FLUSH: Final = 1.0
LONGEST_SILENCE: Final = 15.0
"""Three beats: a worker that has not heard of the store for so many seconds is not ready."""

_NOT_READY: Final = {
    "new": "The worker has not started yet.",
    "stopping": "The worker is stopping.",
    "stopped": "The worker has stopped.",
}


class Worker:
    """Claims jobs from a store and runs them until it is stopped."""

    beside: ClassVar[type[Aside]] = Aside
    """where leases are renewed"""

    def __init__(
        self,
        registry: Registry,
        codecs: Codecs,
        store: Store,
        settings: WorkerSettings,
        upkeep: Sequence[Service] = (),
        max_result: int = MAX_PAYLOAD,
        connect: Connect | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.id = new_worker_id()
        self.queues = served_queues(registry, settings)
        """as settings have them: with weights, and `*` for all"""
        self._settings = settings = replace(settings, queues=tuple(self.queues))
        self._left_out = left_out(registry, self.queues)
        self._lifespan = Lifespan(registry, settings.hook_timeout)
        hand = Hand(settings.concurrency)
        self._hand = hand
        self._started_at = system_clock()
        self._reporter = Reporter(store)
        self._events = registry.events
        self.ledger = ledger or Ledger(registry)
        self._logbook = Logbook(
            store,
            hand,
            self.id,
            to_ms(settings.attempts_keep),
            threshold(settings.log_capture),
            lambda claim: self._runner.runs(claim),
        )
        self._joblog = JobLog(settings.log_jobs, self.ledger.completed)
        self._acker = Acker(store, hand, self._reporter, self._events, self.ledger, self._logbook)
        self._runner = Runner(
            registry,
            codecs,
            settings.concurrency,
            max_result,
            to_ms(settings.unknown_patience),
            Surroundings(
                Executors(settings.concurrency, child_limits(settings)),
                registry.middleware,
                self._lifespan.values,
                self._reporter.put,
                Transactions(store, codecs, max_result, self._acker.forget),
                StoredCheckpoints(
                    store, codecs, max_result, lambda lease: self._runner.lose(lease)
                ),
                StoredWorkflows(store, codecs, registry),
                StoredSignals(store, codecs),
                self._events,
                self._logbook,
                self._joblog,
            ),
            self._acker,
        )
        self._aside = self.beside(connect or (lambda: nullcontext(store)), self._beating)
        self._loop = asyncio.get_running_loop()
        self._fetcher = Fetcher(store, settings, self.id, hand, self._runner)
        self._upkeep = upkeep
        self._stop = asyncio.Event()
        self._state: Literal["new", "working", "stopping", "stopped"] = "new"
        self._seen_at = time.monotonic()
        self._unsent = Unsent(self.id, self.ledger)
        self._orders = Orders(self._fetcher, self._runner, self.ask_to_stop)
        self._store = store
        self._burst: Burst | None = None
        self.endpoint: Endpoint | None = None
        """where it tells its metrics, if it does"""

    @property
    def slots(self) -> int:
        """How many jobs can run at the same time; none once it has stopped."""
        return 0 if self._state == "stopped" else self._settings.concurrency

    @property
    def busy(self) -> int:
        """How many slots are taken."""
        return self._runner.active

    def running(self) -> Sequence[Job]:
        """The jobs whose attempts are under way; from any thread."""
        return self._hand.of(self._runner.claims)

    def serves(self, queue: str) -> bool:
        """Whether it claims from a queue of this name."""
        return self._fetcher.serves(queue)

    @property
    def ran(self) -> int:
        """How many attempts have ended here."""
        return self._runner.ran

    def fault(self) -> str | None:
        """Why it is not ready, or None if it works and the store has answered lately."""
        if self._state != "working":
            return _NOT_READY[self._state]
        silence = time.monotonic() - self._seen_at
        if silence < LONGEST_SILENCE:
            return None
        return f"The store has not answered for {silence:.0f} s."

    @property
    def dismissed(self) -> bool:
        """Whether it has stopped for good: by an order, or because its queues are empty."""
        return self._orders.dismissed or self.emptied

    @property
    def emptied(self) -> bool:
        """Whether its queues are empty, which it was started for."""
        return self._burst is not None and self._burst.is_done

    async def start(self, *, burst: bool = False) -> None:
        """Begin to work; with `burst` it asks itself to stop once its queues are empty."""
        for name in ("windlass", JOBS):
            guard(logging.getLogger(name))
        if self.endpoint is not None:
            self.endpoint.start()
        try:
            await self._lifespan.open()
        except BaseException:
            self._end()
            raise
        if self._left_out:
            log.warning("%s", self._left_out)
        self._events.working(self)
        for service in self._upkeep:
            service.start()
        self._aside.start()
        self._reporter.start()
        self._logbook.start()
        self._acker.start()
        self._fetcher.start()
        self._state = "working"
        if burst:
            parts = (self._store, self._fetcher, self._hand)
            self._burst = Burst(*parts, lambda: self.ran, self.ask_to_stop)
            self._burst.start()

    async def stop(self) -> None:
        self._state = "stopping"
        if self._burst is not None:
            await self._burst.stop()
        await self._fetcher.stop()
        self._runner.release_backlog()
        deadline = time.monotonic() + self._settings.shutdown_timeout
        await self._runner.drain(self._settings.shutdown_timeout)
        await self._acker.drain(max(deadline - time.monotonic(), SHORTEST_FLUSH))
        await self._acker.stop()
        self._joblog.close()
        await self._logbook.stop()
        await self._logbook.drain(max(deadline - time.monotonic(), SHORTEST_FLUSH))
        await self._reporter.stop()
        await self._aside.stop()
        for service in reversed(self._upkeep):
            await service.stop()
        await self._lifespan.close()
        self._end()

    def _end(self) -> None:
        self._state = "stopped"
        if self.endpoint is not None:
            self.endpoint.stop()

    async def run(self, *, burst: bool = False) -> None:
        """Work until SIGINT, SIGTERM, an order or `ask_to_stop`, then stop gracefully.

        With `burst`, until the queues are empty: nothing of them is pending or active.
        """
        with stop_on_signals(self.ask_to_stop):
            await self.start(burst=burst)
            await self.asked_to_stop()
            await self.stop()

    def ask_to_stop(self) -> None:
        self._stop.set()

    async def asked_to_stop(self) -> None:
        """Wait until it was asked; stopping is the caller's to do."""
        await self._stop.wait()

    def _beating(self, store: Store) -> Sequence[Service]:
        """What must not wait for a handler that blocks the event loop."""
        return (
            Heartbeat(store, self._settings.lease, self._hand, self._lose, self._events),
            Presence(store, self._describe, self._told),
            Tallier(store, self._unsent),
        )

    def _told(self, order: Order | None) -> None:
        self._seen_at = time.monotonic()
        self._loop.call_soon_threadsafe(self._orders.follow, order)

    def _lose(self, lease: Lease) -> None:
        self._loop.call_soon_threadsafe(self._runner.lose, lease)

    def _describe(self) -> WorkerInfo:
        return WorkerInfo(
            self.id,
            socket.gethostname(),
            os.getpid(),
            self._settings.queues,
            self._settings.concurrency,
            self._started_at,
            active=self._runner.active,
            memory=resident(),
            quiet=self._fetcher.quiet,
        )


def child_limits(settings: WorkerSettings) -> ChildLimits:
    return ChildLimits(
        settings.child_max_jobs,
        settings.child_max_memory,
        settings.child_idle,
        settings.child_start,
    )


def new_worker_id() -> str:
    """Tells a person which host and process it was; unique even if a process id comes again."""
    return f"{socket.gethostname()}:{os.getpid()}:{new_id()[-8:]}"
