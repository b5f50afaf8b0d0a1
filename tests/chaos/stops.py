"""Blocking handlers that are stopped again and again, wherever they are, and what is left then.

`python -m tests.chaos.stops URL STOPS` needs Windlass and the drivers alone: the soak runs it with
each Python that is at hand. It prints what it found, as JSON, and ends with 1 if that is anything.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from windlass import Context, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import JobQuery
from windlass.core.states import State
from windlass.errors import AttemptStopped
from windlass.observe.console import Console
from windlass.observe.formats import PlainFormatter
from windlass.stores.sql.store import SqlStore
from windlass.stores.sqlite.gate import GATE
from windlass.worker.worker import Worker

CONCURRENCY = 8
PATIENCE = 30.0
"""Seconds that anything may take which takes milliseconds when nothing is locked."""

SHORTEST, LONGEST = 0.01, 0.06
"""Between which the time limits of handlers are, in seconds."""

log = logging.getLogger("shop")


class Stops:
    """An app whose handlers never end by themselves, and what was seen of them."""

    def __init__(self, url: str) -> None:
        self.app = Windlass(url)
        self.begun = 0
        self.stopped = 0
        self.left = 0
        """handlers that were stopped and did not end soon"""
        self.others: Counter[str] = Counter()
        """what handlers saw besides: it should be nothing"""
        self.chance = random.Random()
        self.sink = self.app.task(name="sink", queue="sink")(_nothing)
        kinds: list[Callable[[Context], None]] = [self.enqueues, self.logs, self.reports]
        kinds += [self.waits, self.keeps, self.mixes]
        if not url.startswith(("redis:", "memory:")):
            kinds.append(self.transacts)
        declare = self.app.task
        self.tasks = [
            declare(name=kind.__name__, context=True, max_retries=0)(self._watched(kind))
            for kind in kinds
        ]
        self.canary = declare(name="canary", context=True, max_retries=0)(self._sings)

    def _watched(self, kind: Callable[[Context], None]) -> Callable[[Context], None]:
        def handler(context: Context) -> None:
            self.begun += 1
            try:
                kind(context)
            except AttemptStopped:
                self.stopped += 1
                raise
            except BaseException as error:
                self.others[f"{kind.__name__}: {type(error).__name__}: {error}"] += 1
                raise

        return handler

    # -- handlers ------------------------------------------------------------------------

    def enqueues(self, context: Context) -> None:
        while True:
            self.sink.enqueue(1)

    def logs(self, context: Context) -> None:
        while True:
            log.info("a line of %s", context.id)

    def reports(self, context: Context) -> None:
        while True:
            context.progress(50, "half way")

    def waits(self, context: Context) -> None:
        never, empty = threading.Event(), queue.Queue[int]()
        while True:
            never.wait(0.003)
            try:
                empty.get(timeout=0.003)
            except queue.Empty:
                log.warning("nothing came")

    def keeps(self, context: Context) -> None:
        number = 0
        while True:
            number += 1
            context.checkpoint(number)

    def mixes(self, context: Context) -> None:
        while True:
            handle = self.sink.enqueue(2)
            log.info("enqueued %s", handle.id)
            context.progress(10)
            handle.get()

    def transacts(self, context: Context) -> None:
        time.sleep(self.chance.uniform(0, SHORTEST))
        with context.transaction() as connection:
            _execute(connection, f"INSERT INTO effects (job) VALUES ('{context.id}')")
            until = time.monotonic() + self.chance.uniform(0, LONGEST)
            while time.monotonic() < until:
                _execute(connection, "SELECT 1")
        while True:
            self.sink.enqueue(3)

    def _sings(self, context: Context) -> None:
        """Does once whatever the others do."""
        log.info("a canary")
        context.progress(1)
        context.checkpoint(1)
        self.sink.enqueue(4)
        if any(task.name == "transacts" for task in self.tasks):
            with context.transaction() as connection:
                _execute(connection, "SELECT 1")

    # -- around them ---------------------------------------------------------------------

    async def run(self, wanted: int) -> list[str]:
        """What is wrong after so many stops; nothing should be."""
        await self._prepare()
        settings = WorkerSettings(queues=("default",), concurrency=CONCURRENCY)
        worker = await self.app.worker(settings)
        with _logging_to_nowhere(), self._counting_left():
            await worker.start()
            try:
                problems = await self._stop_many(worker, wanted) or await self._look_around()
            finally:
                await worker.stop()
        problems += await self._compare_effects()
        await self.app.aclose()
        self.app.close()
        return problems + [f"{number} x {text}" for text, number in self.others.items()]

    async def _stop_many(self, worker: Worker, wanted: int) -> list[str]:
        enqueued, seen, moved = 0, 0, time.monotonic()
        while self.stopped < wanted:
            if enqueued - worker.ran < 2 * CONCURRENCY:
                limits = [self.chance.uniform(SHORTEST, LONGEST) for _ in range(4 * CONCURRENCY)]
                calls = [self.chance.choice(self.tasks).using(timeout=each) for each in limits]
                await self.app.aenqueue_many([each.call() for each in calls])
                enqueued += len(calls)
            await asyncio.sleep(0.02)
            now = time.monotonic()
            if self.stopped > seen:
                seen, moved = self.stopped, now
            elif now - moved > PATIENCE:
                return [f"no handler was stopped for {PATIENCE:g} s, after {seen} stops"]
        return []

    async def _look_around(self) -> list[str]:
        """Whether everything can still be done, several times at once."""
        problems = []
        handles = await self.app.aenqueue_many([self.canary.call() for _ in range(CONCURRENCY)])
        try:
            async with asyncio.timeout(PATIENCE):
                for handle in handles:
                    await handle.aresult()
        except Exception as error:
            problems.append(f"a job after all the others: {error!r}")
        problems += [f"{lock} is locked" for lock in _locked()]
        if GATE._inside - {each.ident for each in threading.enumerate()}:
            problems.append("a thread that is gone is still inside of SQLite")
        return problems

    @contextmanager
    def _counting_left(self) -> Iterator[None]:
        def count(record: logging.LogRecord) -> bool:
            self.left += "does not end" in record.msg
            return True

        logger = logging.getLogger("windlass")
        logger.addFilter(count)
        try:
            yield
        finally:
            logger.removeFilter(count)

    async def _prepare(self) -> None:
        store = await self.app.client.store()
        if isinstance(store, SqlStore):
            with store.loans.lend() as connection:
                _execute(connection, "CREATE TABLE IF NOT EXISTS effects (job VARCHAR(100))")

    async def _compare_effects(self) -> list[str]:
        """A job is completed if and only if its transaction was."""
        store = await self.app.client.store()
        if not isinstance(store, SqlStore):
            return []
        with store.loans.lend() as connection:
            cursor = _execute(connection, "SELECT job FROM effects")
            written = {row[0] for row in cursor.fetchall()}
        completed, cursor = set(), None
        while True:
            query = JobQuery(states=(State.COMPLETED,), task="transacts", cursor=cursor)
            page = await store.find(query)
            completed |= {job.id for job in page.jobs}
            cursor = page.cursor
            if cursor is None:
                break
        return [f"{len(written ^ completed)} transactions differ"] if written != completed else []


def _nothing(number: int) -> None:
    """Is never run: no worker serves its queue."""


def _execute(connection: Any, sql: str) -> Any:
    cursor = connection.cursor()
    cursor.execute(sql)
    return cursor


@contextmanager
def _logging_to_nowhere() -> Iterator[None]:
    """By a handler of ours and by one of Python's own."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        ours = Console(PlainFormatter())
        ours.setStream(nowhere)
        root, added = logging.getLogger(), [ours, logging.StreamHandler(nowhere)]
        level, before = root.level, list(root.handlers)
        root.handlers = list(added)
        root.setLevel(logging.INFO)
        try:
            yield
        finally:
            root.handlers = before
            root.setLevel(level)


def _locked() -> Iterator[str]:
    for handler in logging.getLogger().handlers:
        if handler.lock is not None:
            if handler.lock.acquire(timeout=PATIENCE):
                handler.lock.release()
            else:
                yield repr(handler)


def main() -> int:
    url, wanted = sys.argv[1], int(sys.argv[2])
    began = time.monotonic()
    stops = Stops(url)
    problems = asyncio.run(stops.run(wanted))
    seconds = round(time.monotonic() - began, 1)
    found: dict[str, Any] = {
        "stops": stops.stopped,
        "begun": stops.begun,
        "left": stops.left,
        "seconds": seconds,
    }
    found["problems"] = problems
    print(json.dumps(found))  # noqa: T201
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
