"""One SQLite connection: how it is opened, and how operations run on it."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final

from ...core.clock import Clock
from ...errors import SchemaMismatch, StoreError, StoreUnavailable
from ...interrupts import obey
from ..sql.operation import Bulk, Plan, Row, Rows, Statement, run
from .gate import GATE
from .reasons import is_missing, not_opened, not_there, not_written
from .url import Settings

OLDEST_SQLITE: Final = (3, 35, 0)
WIDTHS: Final = (50, 12, 4)
"""How many rows go into one statement, as long as there are so many."""

LONGEST_NAP: Final = 0.01
NOT_THERE: Final = ("no such table: windlass_", "no such column: ")
"""How errors begin where the schema is not the one that this code knows."""

BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
PASSING: Final = BUSY | {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN}


WAL_BYTES: Final = 16 * 1024 * 1024
"""What the file beside the database shrinks to, after somebody has read for long."""


class FileLocked(StoreUnavailable):
    """Others had the file for as long as we wait: nothing was begun."""


class Connection:
    """A connection that belongs to one thread at a time. A fork closes it; see `gate`."""

    def __init__(self, settings: Settings, queries: Mapping[str, str], clock: Clock) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} is too old: windlass needs 3.35 or newer."
            )
        self._settings = settings
        self._queries = queries
        self._clock = clock
        self._raw: sqlite3.Connection | None = None
        with GATE:
            GATE.add(self)
            self._connect()

    @property
    def path(self) -> str:
        return self._settings.path

    @property
    def raw(self) -> sqlite3.Connection:
        """The driver's own; to be used `with GATE:` only."""
        return self._raw or self._connect()

    def is_still(self, raw: sqlite3.Connection) -> bool:
        """Whether this is what `raw` gave before: no fork has closed it since."""
        return self._raw is raw

    def transact(
        self, plans: Sequence[Plan[Any]], begin: str, deadline: float | None = None
    ) -> list[Any]:
        """Run several operations in one transaction: all of them or none."""
        with GATE:
            try:
                self.begin(begin, deadline)
                now = self._clock()
                answers = [run(plan(now), self._execute) for plan in plans]
                self.raw.execute("COMMIT")
            except BaseException as error:
                self.rollback()
                if isinstance(error, sqlite3.Error):
                    raise self.fault(error) from error
                raise
        return answers

    def read(self, sql: str, params: Mapping[str, Any] | None = None) -> Row:
        """The one row of a query that changes nothing."""
        with GATE:
            row: Row = self.raw.execute(sql, params or {}).fetchone()
        return row

    def begin(self, begin: str, deadline: float | None = None) -> None:
        # Ctrl-C may have come before the one that was open could be ended.
        self.rollback()
        self._patiently(self.raw, begin, deadline)

    def rollback(self) -> None:
        """Give up the transaction, if there still is one: a full disk ends it by itself."""
        if self.raw.in_transaction:
            self.raw.execute("ROLLBACK")

    def close(self) -> None:
        with GATE:
            self.disconnect()

    def disconnect(self) -> None:
        if self._raw is not None:
            self._raw.close()
            self._raw = None

    def _connect(self) -> sqlite3.Connection:
        path = self._settings.path
        try:
            raw = sqlite3.connect(
                path if self._settings.create else f"{Path(path).absolute().as_uri()}?mode=rw",
                uri=not self._settings.create,
                # `_patiently` waits instead: SQLite's own waiting starves writers.
                timeout=0,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
        except sqlite3.Error as error:
            if not self._settings.create and is_missing(path):
                raise StoreError(not_there(path)) from None
            raise StoreError(not_opened(path, error)) from error
        try:
            self._patiently(raw, "PRAGMA journal_mode = wal")
            raw.execute(f"PRAGMA synchronous = {self._settings.synchronous}")
            raw.execute("PRAGMA temp_store = memory")
            raw.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        except sqlite3.Error as error:
            raw.close()
            raise StoreError(not_opened(path, error)) from error
        except StoreError:
            raw.close()
            raise
        self._raw = raw
        return raw

    def _patiently(self, raw: sqlite3.Connection, sql: str, deadline: float | None = None) -> None:
        """Execute what takes a lock. Short random naps give every process its turn."""
        if deadline is None:
            deadline = time.monotonic() + self._settings.busy_timeout
        nap = 0.0005
        while True:
            try:
                raw.execute(sql)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in BUSY:
                    raise
                if time.monotonic() > deadline:
                    raise FileLocked(not_written(self._settings.path, error)) from error
            else:
                return
            obey()
            time.sleep(random.uniform(0, nap))
            nap = min(nap * 2, LONGEST_NAP)

    def fault(self, error: sqlite3.Error) -> StoreError:
        """The error in our words: what may pass by itself is told from what will not."""
        if str(error).startswith(NOT_THERE):
            return SchemaMismatch(
                f"The tables of Windlass are missing or of another version ({error}) in the SQLite "
                f"file {self._settings.path}: run `windlass migrate`."
            )
        text = not_written(self._settings.path, error)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return StoreUnavailable(text) if code in PASSING else StoreError(text)

    def _execute(self, asked: Statement | Bulk) -> Any:
        sql = self._queries[asked.query]
        if isinstance(asked, Bulk):
            return self._bulk(sql, asked.rows)
        return self._rows(sql, asked.params)

    def _rows(self, sql: str, params: Mapping[str, Any]) -> Rows:
        raw = self.raw
        try:
            return raw.execute(sql, params).fetchall()
        except sqlite3.OperationalError as error:
            if "Could not decode" not in str(error):
                raise
        # One damaged text must not hide the rows beside it, as the driver would have it.
        raw.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
        try:
            return raw.execute(sql, params).fetchall()
        finally:
            raw.text_factory = str

    def _bulk(self, sql: str, rows: Rows) -> int:
        """Many rows; those of an `/*each*/` query go many to a statement, which halves its cost.

        Each statement also gives the interpreter away: the fewer there are, the fewer times another
        thread has to give it back.
        """
        if len(rows) == 1:
            return self.raw.execute(sql, rows[0]).rowcount
        changed = 0
        if "/*each*/" in sql:
            for width in WIDTHS:
                whole = len(rows) - len(rows) % width
                for start in range(0, whole, width):
                    flat = list(chain.from_iterable(rows[start : start + width]))
                    changed += self.raw.execute(_wide(sql, width), flat).rowcount
                rows = rows[whole:]
        return changed + (self.raw.executemany(sql, rows).rowcount if rows else 0)


@cache
def _wide(sql: str, width: int) -> str:
    """A query for so many rows."""
    head, each, tail = sql.split("/*each*/")
    return head + ", ".join([each] * width) + tail
