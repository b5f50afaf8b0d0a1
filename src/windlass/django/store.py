"""The store on a connection of Django's: for tests, whose transaction nobody else can look into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from asgiref.sync import sync_to_async
from django.db import connections, transaction

from ..core.clock import system_clock
from ..core.model import Job, NewJob, Receipt
from ..stores.guest.django import DjangoGuest
from ..stores.open import open_store
from ..stores.sql.loans import Loans
from ..stores.sql.operation import Plan, T
from ..stores.sql.store import SqlStore
from .conf import IN_MEMORY, url_of
from .schema import migrate

_HOSTS: Final[dict[str, SqlStore]] = {}


def host_of(alias: str) -> SqlStore:
    """A store that is never opened: it knows how operations are written for this database."""
    url = url_of(alias)
    if url not in _HOSTS:
        store = open_store(url)
        assert isinstance(store, SqlStore)
        if url == IN_MEMORY:
            store.dialect = store.dialect._replace(arrived=lambda _: system_clock())
        _HOSTS[url] = store
    return _HOSTS[url]


def perform(alias: str, plan: Plan[T]) -> T:
    """Run an operation on the connection that Django keeps for this thread.

    In the transaction that is open there, or else in one of its own.
    """
    with transaction.atomic(using=alias):
        return DjangoGuest(connections[alias]).perform(host_of(alias).dialect, plan)


class DjangoDatabase:
    """One of Django's databases."""

    def __init__(self, alias: str, *, blocking: bool) -> None:
        self.alias = alias
        self.blocking = blocking

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def migrate(self) -> Sequence[str]:
        return await self._call(lambda: migrate(connections[self.alias]))

    async def write(self, plan: Plan[T]) -> T:
        return await self._call(lambda: perform(self.alias, plan))

    async def read(self, plan: Plan[T]) -> T:
        return await self._call(lambda: perform(self.alias, plan))

    async def _call(self, act: Callable[[], T]) -> T:
        if self.blocking:
            return act()
        done: T = await sync_to_async(act)()
        return done


class DjangoStore(SqlStore):
    """Jobs in one of Django's databases, over Django's connection. No worker can claim from it."""

    loans: Loans

    def __init__(self, alias: str, *, blocking: bool) -> None:
        super().__init__(DjangoDatabase(alias, blocking=blocking))
        self._alias = alias

    async def close(self) -> None:
        await self._rest.close()

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        pass

    def inserting(self, jobs: Sequence[NewJob]) -> Plan[Sequence[Receipt]]:
        return host_of(self._alias).inserting(jobs)

    def restoring(self, jobs: Sequence[Job]) -> Plan[Sequence[Receipt]]:
        return host_of(self._alias).restoring(jobs)

    def _moving(self, ids: Sequence[str], plan: Plan[T]) -> Plan[T]:
        return host_of(self._alias)._moving(ids, plan)

    def _wake(self) -> None:
        pass
