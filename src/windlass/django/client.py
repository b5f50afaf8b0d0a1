"""How the jobs of a Django project reach the store: with the transaction that is open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from threading import Thread
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.core import mail
from django.db import connections, transaction

from ..client import Client
from ..core.model import Job, NewJob, Receipt
from ..intake import Made
from ..stores.contract import Store
from ..stores.sql import admin
from ..sync import refuse_in_loop
from .conf import Conf, conf
from .store import DjangoStore, host_of, perform

log = logging.getLogger("windlass")

T = TypeVar("T")


def is_testing() -> bool:
    """Whether Django's test runner, or pytest-django, has prepared this process for tests."""
    return hasattr(mail, "outbox")


class Bench(Client):
    """What stands for the store in tests: the test database, or memory."""

    def __init__(self, alias: str | None) -> None:
        super().__init__("memory://")
        self._alias = alias

    def _make(self, blocking: bool) -> Store:
        if self._alias is None:
            return super()._make(blocking)
        return DjangoStore(self._alias, blocking=blocking)


class DjangoClient(Client):
    """A client whose jobs wait for the commit of the transaction that this thread is in.

    If they are kept in the same database, they are part of it; else they are brought after it.
    """

    conf: Conf

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._under_way: set[asyncio.Future[Any]] = set()

    def settle(self, conf: Conf, on_insert: Callable[[Sequence[NewJob]], None]) -> None:
        """Say how jobs are stored, before the first one is; `on_insert` runs them, in tests."""
        self.conf = conf
        self.bench = Bench(conf.database)
        self.on_insert = on_insert
        self._held: list[NewJob] | None = None

    async def store(self) -> Store:
        return await (self.bench.store() if is_testing() else super().store())

    def block(self, act: Callable[[Store], Coroutine[Any, Any, T]], call: str, instead: str) -> T:
        if is_testing():
            return self.bench.block(act, call, instead)
        return super().block(act, call, instead)

    @asynccontextmanager
    async def private_store(self) -> AsyncIterator[Store]:
        opened = self.bench.private_store if is_testing() else super().private_store
        async with opened() as store:
            yield store

    @property
    def unopened(self) -> Store:
        """A store that connects to nothing; in tests the one of the test database."""
        if self.conf.database is not None:
            return host_of(self.conf.database)
        return self.bench.unopened if is_testing() else super().unopened

    def insert(
        self, jobs: Sequence[NewJob], call: str, instead: str, connection: object = None
    ) -> Sequence[Receipt]:
        refuse_in_loop(call, instead)
        if connection is not None:
            return super().insert(jobs, call, instead, connection)
        alias, own = self.conf.awaited, self.conf.database
        if alias is None:
            return self._insert_now(jobs, call, instead)
        if alias == own:
            return self._insert_within(jobs, call, instead)
        store = self._insert_now if own is None else self._insert_within
        if not connections[alias].in_atomic_block:
            return store(jobs, call, instead)
        transaction.on_commit(partial(store, jobs, call, instead), using=alias)
        return [Receipt(job.id) for job in jobs]

    def enqueue(self, jobs: Sequence[NewJob], made: Made[T]) -> asyncio.Future[T]:
        if self.conf.awaited is None and not is_testing():
            return super().enqueue(jobs, made)
        begun: list[str] = []

        def insert() -> Sequence[Receipt]:
            begun.append("")
            return self.insert(jobs, "enqueue(…)", "aenqueue(…)")

        async def bring() -> T:
            # The transaction is in the thread in which async code of Django uses its databases.
            return made(jobs, await sync_to_async(insert, thread_sensitive=True)())

        def ended(under_way: asyncio.Future[T]) -> None:
            self._under_way.discard(under_way)
            if under_way.cancelled() and not begun:
                self._bring_after_all(jobs)

        under_way = asyncio.ensure_future(bring())
        self._under_way.add(under_way)
        under_way.add_done_callback(ended)
        return under_way

    def _bring_after_all(self, jobs: Sequence[NewJob]) -> None:
        """Store what an event loop has left that ends; a thread keeps the process until then."""
        if is_testing():
            log.warning("a job of %s was not stored: await its aenqueue(…)", jobs[0].spec.task)
            return

        def bring() -> None:
            try:
                self.insert(jobs, "enqueue(…)", "aenqueue(…)")
            except Exception:
                log.warning("a job of %s was not stored", jobs[0].spec.task, exc_info=True)
            finally:
                connections.close_all()

        Thread(target=bring, name="windlass-late").start()

    @contextmanager
    def told_first(self) -> Iterator[None]:
        """Within this, jobs that are to run at once do not: they do at its end."""
        held: list[NewJob] = []
        self._held = held
        try:
            yield
        finally:
            self._held = None
        if held:
            self.on_insert(held)

    def seen(self, id: str) -> Job | None:
        """A job as this thread's transaction sees it, if there is such a job."""
        if self.conf.database is None:
            found = self.block(lambda store: store.get([id]), "get_result(…)", "aget_result(…)")
        else:
            found = perform(self.conf.database, lambda _: admin.get([id]))
        return found.get(id)

    async def aclose(self) -> None:
        if self._under_way:
            await asyncio.wait(self._under_way)
        await super().aclose()

    def _insert_within(self, jobs: Sequence[NewJob], call: str, instead: str) -> Sequence[Receipt]:
        """Store jobs on Django's own connection; in a transaction of their own if none is open."""
        alias = self.conf.database
        if not is_testing():
            self._refuse_to_wait()
        with transaction.atomic(using=alias):
            receipts = super().insert(jobs, call, instead, connections[alias])
        self._tell(jobs)
        return receipts

    def _insert_now(self, jobs: Sequence[NewJob], call: str, instead: str) -> Sequence[Receipt]:
        if not is_testing():
            return super().insert(jobs, call, instead)
        receipts = self.bench.insert(jobs, call, instead)
        self._tell(jobs)
        return receipts

    def _tell(self, jobs: Sequence[NewJob]) -> None:
        if is_testing() and conf().testing == "immediate":
            if self._held is None:
                self.on_insert(jobs)
            else:
                self._held += jobs
