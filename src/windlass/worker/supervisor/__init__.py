"""Keeps a number of worker processes: starts them, replaces them, stops them.

There are as many places as processes. A place whose process has died gets another, after a
pause that grows while they die young. One that is to be replaced (it is due, SIGHUP came, the
source changed) goes on until its successor works, so that code which cannot be loaded takes
nothing down. Places are renewed one after the other, except while developing. The place of a
process that was told to stop, by an order to that worker, or whose queues are empty (--burst),
stays empty; when all are, this is over.

One that says nothing any more is to be replaced as well. When one has died, all others are told
whose leases it had, so that its jobs run again at once.

A process is asked to stop by closing the line to it and not by a signal: a service manager
may have signalled every process already, and a second signal ends one at once.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Coroutine
from typing import Any, Final

from ...config import WorkerSettings
from ...errors import WindlassError
from ...observe.figures import decode
from ..liveness import LEASES
from ..metering import endpoint
from ..shutdown import SIGNALS, STOPPING
from .note import Death, Note
from .replica import Replica, first, spawn
from .sources import Sources
from .sums import Sums

log = logging.getLogger("windlass")

SHORTEST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 10.0
GROWN_UP: Final = 10.0
"""One that has lived for so many seconds did not die young."""

TERMINAL: Final = 0

GRACE: Final = 5.0
"""What a process may take beyond its timeouts, to write things down."""

LOOK: Final = 1.0
"""Seconds between two looks at who was silent."""


class CannotStart(WindlassError):
    """No worker process could start; the text is what the first of them said."""


def pause_after(deaths: int) -> float:
    """Seconds to wait after so many early deaths in a row."""
    return min(LONGEST_PAUSE, SHORTEST_PAUSE * 2 ** min(deaths - 1, 10)) if deaths else 0.0


class Supervisor:
    """Supervises so many runs of the command that this process is."""

    def __init__(self, settings: WorkerSettings, *, reload: bool = False) -> None:
        self._processes = self._places = settings.processes
        self._patience = settings.shutdown_timeout + settings.hook_timeout + GRACE
        self._longest_silence = LEASES * settings.lease
        self._sources = Sources()
        self._reload = reload
        # Whoever develops does not want to wait for the old code to finish its jobs.
        self._turn = asyncio.Semaphore(1_000_000 if reload else 1)
        self._sums = Sums()
        self._endpoint = None
        if settings.metrics_port:
            self._endpoint = endpoint(settings, self._sums.total, self._sums.fault)
        self._living: set[Replica] = set()
        self._placed: set[Replica] = set()
        self._dead: set[str] = set()
        """workers whose process has died, and whose jobs nobody has taken over yet"""
        self._first_up = asyncio.Event()
        self._generation = 0
        self._next_generation = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Work until a signal, then let every process finish.

        Raises `CannotStart` if the very first process says that it cannot.
        """
        if self._endpoint is not None:
            self._endpoint.start()
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._on_signal, number, stop)
        loop.add_signal_handler(signal.SIGHUP, self._on_hangup, os.isatty(TERMINAL), stop)
        for place in range(self._processes):
            self._background(self._keep(place, stop))
        self._background(self._look())
        if self._reload:
            self._background(self._watch())
        ends: list[asyncio.Future[Any]] = [asyncio.ensure_future(stop.wait()), self._failed]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.gather(*(replica.stop(self._patience) for replica in self._living))
            if self._endpoint is not None:
                self._endpoint.stop()
        if self._failed.done():
            self._failed.result()
        log.info("supervisor stopped")

    def _on_signal(self, number: int, stop: asyncio.Event) -> None:
        if stop.is_set():
            for replica in self._living:
                replica.kill()
            os._exit(128 + number)
        log.info(STOPPING)
        stop.set()

    def _on_hangup(self, had_terminal: bool, stop: asyncio.Event) -> None:
        if had_terminal and not os.isatty(TERMINAL):
            log.info("stopping: the terminal was closed")
            stop.set()
        else:
            self._renew_all("is replaced because of SIGHUP")

    def _background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not self._failed.done():
            self._failed.set_exception(error)

    def _renew_all(self, reason: str) -> None:
        self._generation += 1
        self._next_generation.set()
        self._next_generation = asyncio.Event()
        for replica in self._placed:
            replica.ask(reason)

    async def _look(self) -> None:
        # By the number of looks: this process, too, may have been frozen for a while.
        while True:
            await asyncio.sleep(LOOK)
            for replica in list(self._living):
                replica.look(LOOK, self._longest_silence)

    async def _watch(self) -> None:
        while True:
            names = await self._sources.changed()
            log.info("changed: %s", ", ".join(map(os.path.relpath, names)))
            self._renew_all("has old code")

    async def _keep(self, place: int, stop: asyncio.Event) -> None:
        """See to it that there is a process in a place, until it is told to be gone."""
        if place:
            # The first alone says what is wrong, if it is, and prepares the store.
            await self._first_up.wait()
        replica = await self._persist(0)
        while True:
            self._placed.add(replica)
            if replica.generation < self._generation:
                replica.ask("is of the last generation")
            await first(replica.asked, replica.ended)
            self._placed.discard(replica)
            if replica.dismissed and replica.ended.is_set():
                self._give_up_place(stop)
                return
            if replica.ended.is_set():
                replica = await self._persist(0 if replica.age > GROWN_UP else 1)
            else:
                replica = await self._successor(replica)

    def _give_up_place(self, stop: asyncio.Event) -> None:
        self._places -= 1
        log.info("its place stays empty: %d left", self._places)
        if not self._places:
            stop.set()

    async def _persist(self, deaths: int) -> Replica:
        """Start processes until one works."""
        while True:
            if pause := pause_after(deaths):
                log.info("starting another in %g s", pause)
                await within(pause, self._next_generation)
            replica = await self._start()
            if replica is None:
                deaths += 1
                continue
            if await replica.settled() or replica.dismissed:
                # Also one that has been so quick that it is over already.
                self._first_up.set()
                return replica
            deaths = 1 if replica.age > GROWN_UP else deaths + 1
            if replica.refusal is not None and not self._first_up.is_set():
                raise CannotStart(replica.refusal)
            if replica.refusal is not None and self._reload:
                # The next one would say the same, until the source is mended.
                if replica.generation == self._generation:
                    await self._next_generation.wait()
                deaths = 0

    async def _successor(self, old: Replica) -> Replica:
        """Another process in place of one that works; the same one if there can be no other."""
        turn = asyncio.ensure_future(self._turn.acquire())
        ended = asyncio.ensure_future(old.ended.wait())
        await asyncio.wait([turn, ended], return_when=asyncio.FIRST_COMPLETED)
        ended.cancel()
        if not turn.done():
            turn.cancel()
            return old
        old.generation = self._generation
        new = await self._start()
        if new is not None and await new.settled():
            self._background(self._retire(old))
            return new
        self._turn.release()
        old.asked.clear()
        return old

    async def _retire(self, old: Replica) -> None:
        await old.stop(self._patience)
        self._turn.release()

    async def _start(self) -> Replica | None:
        try:
            replica = await spawn(self._generation, self._hear, self._bury)
        except OSError as error:
            # Too many processes, or no memory for another; those that run go on.
            log.error("no process could be started: %s", error)
            return None
        log.info("%s started", replica)
        self._living.add(replica)
        return replica

    def _hear(self, replica: Replica, note: Note) -> None:
        match note.kind:
            case "ready":
                for worker in self._dead:
                    replica.tell(Death(worker))
            case "took over":
                self._dead.discard(note.worker)
            case "refused" | "files":
                self._sources.add(note.files)
            case "figures":
                self._sums.take(replica, decode(note.figures), note.text)

    def _bury(self, replica: Replica) -> None:
        """Say how it ended, and who has to be taken over."""
        self._living.discard(replica)
        self._sums.bury(replica)
        if replica.worker and not replica.has_stopped:
            self._dead.add(replica.worker)
            for other in self._living:
                if other.up.is_set():
                    other.tell(Death(replica.worker))
        if replica.refusal is None:
            log.log(
                logging.INFO if replica.stopping else logging.WARNING,
                "%s %s",
                replica,
                replica.end(),
            )
        elif self._first_up.is_set():
            hint = " Waiting for the next change." if self._reload else ""
            log.error("%s%s", replica.refusal, hint)


async def within(seconds: float, event: asyncio.Event) -> None:
    """Wait for an event, but no longer than this."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
