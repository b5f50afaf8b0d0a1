"""Accepting jobs on a connection of the user's: they exist if and only if that one commits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...core.model import NewJob, Receipt
from ...errors import InvalidOption
from ...sync import refuse_in_loop
from ..contract import Store
from ..sql.store import SqlStore
from .guest import AsyncGuest, BlockingGuest
from .recognize import guest_of

T = TypeVar("T")


def insert_on(
    connection: Any, store: Store, jobs: Sequence[NewJob], call: str, instead: str
) -> Sequence[Receipt]:
    """`store.insert` for a blocking caller; `call` is how it was made, `instead` the async way.

    The store need not be open, and is not used but for what it knows.
    """
    host, guest = _host(store), guest_of(connection)
    if not isinstance(guest, BlockingGuest):
        raise InvalidOption(
            f"{call} takes no async connection: in async code use `await {instead}`."
        )
    refuse_in_loop(call, instead)
    return guest.perform(host.dialect, host.inserting(jobs))


def ainsert_on(
    connection: Any,
    store: Store,
    jobs: Sequence[NewJob],
    made: Callable[[Sequence[NewJob], Sequence[Receipt]], T],
    reject: Callable[[Sequence[NewJob], BaseException], None],
    call: str,
    instead: str,
) -> asyncio.Future[T]:
    """The same for an async caller, who gets what is `made` of the receipts; `reject` is told if
    there are none.

    Under way from this call on; but who does not wait for it may commit too early.
    """
    host, guest = _host(store), guest_of(connection)
    if isinstance(guest, BlockingGuest) and not guest.instant:
        raise InvalidOption(
            f"{call} takes a connection of an async driver, and this one would block the event "
            f"loop: give another, or call {instead} in a thread."
        )

    async def bring() -> T:
        try:
            receipts = await _perform(host, guest, jobs)
        except BaseException as error:
            reject(jobs, error)
            raise
        return made(jobs, receipts)

    return asyncio.ensure_future(bring())


async def _perform(
    host: SqlStore, guest: BlockingGuest | AsyncGuest, jobs: Sequence[NewJob]
) -> Sequence[Receipt]:
    if isinstance(guest, AsyncGuest):
        return await guest.perform(host.dialect, host.inserting(jobs))
    return guest.perform(host.dialect, host.inserting(jobs))


def _host(store: Store) -> SqlStore:
    if not isinstance(store, SqlStore):
        raise InvalidOption(
            "The store of this app is not on SQL, so jobs cannot be part of a transaction there: "
            "enqueue them without a connection, after your commit."
        )
    return store
