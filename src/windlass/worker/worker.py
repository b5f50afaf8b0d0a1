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
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext, suppress
from typing import ClassVar, Final, Literal

from msgspec.structs import replace

from ..config import WorkerSettings
from ..core.clock import system_clock, to_ms
from ..core.codec import MAX_PAYLOAD, Codecs
from ..core.ids import new_id
from ..core.model import Job, Lease
from ..core.workers import Order, WorkerInfo
from ..errors import StoreUnavailable
from ..observe.endpoint import Endpoint
from ..observe.fields import JOBS
from ..observe.guarded import guard
from ..observe.joblog import JobLog
from ..observe.ledger import Ledger
from ..observe.logs import threshold
from ..service import Outage, Service
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
from .liveness import LEASES
from .logbook import Logbook
from .memory import resident
from .orders import Orders
from .presence import LIFE, Presence
from .reporter import Reporter
from .returns import Returner
from .runner import Runner
from .serving import left_out, served_queues
from .shutdown import STOPPING, Ending, stop_on_signals
from .signals import StoredSignals
from .standstill import Standstill
from .tallier import Tallier, Unsent
from .transactions import Transactions
from .workflows import StoredWorkflows

log = logging.getLogger("windlass")

SHORTEST_FLUSH: Final = 1.0
FAREWELL: Final = 2.0
"""Seconds for good-byes to the store; `SHORTEST_FLUSH` if it has not answered lately."""
GRACE: Final = 3.0
"""Seconds beyond its timeouts that a worker may take to stop."""
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
        hand = Hand()
        self._hand = hand
        self._started_at = system_clock()
        self._faulty_since: float | None = None
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
            settings.concurrency,
            settings.blocking,
            max_result,
            to_ms(settings.unknown_patience),
            Surroundings(
                Executors(settings.blocking, ChildLimits.of(settings)),
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
        self._outage = Outage()
        self._standstill = Standstill(settings.lease, self._runner, hand, self._acker)
        self._liveness = self._standstill.liveness
        connect = connect or (lambda: nullcontext(store))
        self._aside = self.beside(connect, self._beating, self._outage, self._liveness)
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
        self.take_over: Callable[[str], Awaitable[None]] | None = None
        """has the jobs of another worker run again, one of which it is certain that it is gone"""

    @property
    def slots(self) -> int:
        """How many jobs can run at the same time; none once it has stopped."""
        return 0 if self._state == "stopped" else self._runner.waiting.slots

    @property
    def busy(self) -> int:
        """How many slots are taken."""
        return self._runner.active

    def works_here(self) -> bool:
        """Whether it works, or stops, on the running event loop."""
        return self._state in ("working", "stopping") and self._loop is asyncio.get_running_loop()

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
        if own := self._own_fault():
            return own
        silence = time.monotonic() - self._seen_at
        if silence < LONGEST_SILENCE:
            return None
        return f"The store has not answered for {silence:.0f} s."

    def _own_fault(self) -> str | None:
        silence = self._liveness.silence
        fault = self._runner.fault()
        if silence:
            fault = f"The event loop has been blocked for {silence:.0f} s."
        if fault is None:
            self._faulty_since = None
        elif self._faulty_since is None:
            self._faulty_since = time.monotonic() - silence
        return fault

    def due(self) -> str | None:
        """Why its process should be replaced, or None: it cannot work, and that does not end."""
        fault = self._own_fault() if self._state == "working" else None
        since = self._faulty_since or time.monotonic()
        lasts = time.monotonic() - since
        return fault if lasts > LEASES * self._settings.lease else None

    @property
    def longest_stop(self) -> float:
        """Seconds that stopping takes at the most; a process that goes on then is stuck."""
        settings = self._settings
        hooks = max(1, self._lifespan.size) * settings.hook_timeout
        return settings.shutdown_timeout + hooks + GRACE

    @property
    def dismissed(self) -> bool:
        """Whether it has stopped for good: by an order, or because its queues are empty."""
        return self._orders.dismissed or self.emptied

    @property
    def emptied(self) -> bool:
        """Whether its queues are empty, which it was started for."""
        return self._burst is not None and self._burst.is_done

    def keep_up(
        self, services: Sequence[Service], take_over: Callable[[str], Awaitable[None]]
    ) -> None:
        """Have it do this upkeep while it works, in which its own id stands for it."""
        self._upkeep, self.take_over = services, take_over

    async def start(self, *, burst: bool = False) -> None:
        """Begin to work; with `burst` it asks itself to stop once its queues are empty."""
        for name in ("windlass", JOBS):
            guard(logging.getLogger(name))
        services = self._reporter, self._logbook, self._acker, self._fetcher
        for service in (*self._upkeep, *services):
            service.outage = self._outage
        await self._announce()
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
        for service in services:
            service.start()
        self._state = "working"
        if burst:
            parts = (self._store, self._fetcher, self._hand)
            self._burst = Burst(*parts, lambda: self.ran, self.ask_to_stop)
            self._burst.outage = self._outage
            self._burst.start()

    async def _announce(self) -> None:
        """Enter the list of workers: a store that cannot be used is to be known before all else."""
        try:
            await self._store.beat(self._describe(), to_ms(LIFE))
        except StoreUnavailable as error:
            self._outage.note(error)

    async def stop(self) -> None:
        self._state = "stopping"
        if self._burst is not None:
            await self._burst.stop()
        deadline = time.monotonic() + self._settings.shutdown_timeout
        await _within(_left(deadline), self._fetcher.stop())
        self._runner.waiting.release()
        await self._runner.drain(max(deadline - time.monotonic(), 0))
        await self._acker.drain(_left(deadline))
        await self._acker.stop()
        self._joblog.close()
        await self._logbook.stop()
        await self._logbook.drain(_left(deadline))
        await self._reporter.stop()
        patience = SHORTEST_FLUSH if self._outage.stands else FAREWELL
        farewell = time.monotonic() + patience
        await self._aside.stop(patience)
        for service in reversed(self._upkeep):
            await _within(max(farewell - time.monotonic(), 0.1), service.stop())
        await self._lifespan.close()
        self._end()

    def _end(self) -> None:
        self._state = "stopped"
        if self.endpoint is not None:
            self.endpoint.stop()

    async def run(self, *, burst: bool = False) -> None:
        """Work until SIGINT, SIGTERM, an order or `ask_to_stop`, then stop gracefully.

        With `burst`, until the queues are empty: nothing of them is pending or active. After a
        signal the process ends in time, whatever blocks its event loop.
        """
        ending = self.ending()
        with stop_on_signals(self.ask_to_stop, ending.begin):
            await self.start(burst=burst)
            await self.asked_to_stop()
            if not self.emptied:
                log.info(STOPPING)
            await self.stop()
        ending.over()

    def ending(self) -> Ending:
        """What ends the process if stopping takes too long."""
        return Ending(self.longest_stop, self._standstill.give_back)

    def ask_to_stop(self) -> None:
        """May be called from any thread."""
        with suppress(RuntimeError):  # its event loop is closed: it has stopped
            self._loop.call_soon_threadsafe(self._stop.set)

    async def asked_to_stop(self) -> None:
        """Wait until it was asked; stopping is the caller's to do."""
        await self._stop.wait()

    def _beating(self, store: Store) -> Sequence[Service]:
        """What must not wait for a handler that blocks the event loop."""
        return (
            Heartbeat(store, self._settings.lease, self._hand, self._lose, self._events),
            Presence(store, self._describe, self._told),
            Tallier(store, self._unsent),
            Returner(store, self._standstill.returns),
        )

    def _told(self, order: Order | None) -> None:
        self._seen_at = time.monotonic()
        self._outage.over()
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._orders.follow, order)

    def _lose(self, lease: Lease) -> None:
        self._loop.call_soon_threadsafe(self._runner.lose, lease)

    def _describe(self) -> WorkerInfo:
        return WorkerInfo(
            self.id,
            socket.gethostname(),
            os.getpid(),
            self._settings.queues,
            self._runner.waiting.slots,
            self._started_at,
            active=self._runner.active,
            memory=resident(),
            quiet=self._fetcher.quiet,
            fault=self._own_fault() or "",
            completed=self.ledger.completed(),
            failed=self.ledger.failed(),
            threads=self._runner.waiting.threads,
            in_threads=self._runner.waiting.in_threads,
        )


def _left(deadline: float) -> float:
    return max(deadline - time.monotonic(), SHORTEST_FLUSH)


async def _within(seconds: float, work: Awaitable[None]) -> None:
    """Wait no longer than this; what the store was not told then, it lets run out."""
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=seconds)
    if task.done():
        task.result()
    else:
        task.cancel()


def new_worker_id() -> str:
    """Tells a person which host and process it was; unique even if a process id comes again."""
    return f"{socket.gethostname()}:{os.getpid()}:{new_id()[-8:]}"
