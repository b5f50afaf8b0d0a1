"""Lends `sqlite3` connections; the one way serves async code as well, since SQLite has no other."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial

from ...core.transaction import Hold, hold
from ...errors import StoreError
from ...sync import in_thread
from .connection import Connection
from .gate import GATE


class SqliteLoans:
    """A new connection for each loan: to open one takes a fraction of what its commit takes."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect

    @contextmanager
    def lend(self) -> Iterator[sqlite3.Connection]:
        loan = _Loan(self._connect)
        hold.set(loan.hold)
        try:
            yield loan.raw
            loan.commit()
        finally:
            loan.end()

    @asynccontextmanager
    async def alend(self) -> AsyncIterator[sqlite3.Connection]:
        """Waits for the file's lock, and for the disk, in a thread."""
        taking = asyncio.ensure_future(in_thread(partial(_Loan, self._connect)))
        try:
            loan = await asyncio.shield(taking)
        except asyncio.CancelledError:
            # The thread goes on, and will have the lock of all writers.
            taking.add_done_callback(_end_unwanted)
            raise
        hold.set(loan.hold)
        try:
            yield loan.raw
            await in_thread(loan.commit)
        finally:
            loan.end()

    async def close(self) -> None:
        """Nothing is kept."""


class _Loan:
    """One transaction that has the write lock of the file from its beginning."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connection = connect()
        try:
            with GATE:
                self._connection.begin("BEGIN IMMEDIATE")
                self.raw = self._connection.raw
        except BaseException:
            self._connection.close()
            raise
        self.hold = Hold(self._connection.path)

    def commit(self) -> None:
        with GATE:
            # A fork closes connections, and asking for one would open another without all this.
            if not self._connection.is_still(self.raw):
                raise StoreError(
                    "The process was forked within a transaction, which ended that: fork before it."
                )
            try:
                self.raw.execute("COMMIT")
            except sqlite3.Error as error:
                raise self._connection.fault(error) from error

    def end(self) -> None:
        """Take back what is not committed, and close.

        Closing alone would leave the transaction open while a cursor has rows that nobody fetched.
        """
        self.hold.is_over = True
        with GATE:
            if self._connection.is_still(self.raw):
                with suppress(sqlite3.Error):  # the disk is full; the file is let go all the same
                    self._connection.rollback()
        self._connection.close()


def _end_unwanted(taking: asyncio.Future[_Loan]) -> None:
    if not taking.cancelled() and taking.exception() is None:
        taking.result().end()
