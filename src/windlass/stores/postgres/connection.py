"""One connection to PostgreSQL: how it is made, and how operations run on it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import asyncpg

from ..sql.operation import Bulk, Operation, Plan, Rows, Statement, T, arun
from ..sql.placeholders import Query
from .fault import LOST, InDoubt
from .url import Settings

if TYPE_CHECKING:
    Raw = asyncpg.Connection[asyncpg.Record]
else:
    Raw = asyncpg.Connection

PLANNER: Final = {
    # Every query of the hot path has an index that it must use however small its table was
    # when it was planned: it may be large a second later, and the plan is kept.
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_sort": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "jit": "off",
    # Nor is there anything to gain from planning anew for other values.
    "plan_cache_mode": "force_generic_plan",
}

ISOLATION: Final = {"default_transaction_isolation": "read committed"}
"""For statements that stand alone: a role or a database may have another one by default."""

WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

KEEPALIVE: Final = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""Seconds until the first question, between two, and how many of them are without an answer."""

NO_JIT: Final = {"jit": "off"}
"""For databases whose queries are not all known to have an index."""


class Connection:
    """Runs operations on a connection of the driver's."""

    def __init__(
        self, raw: Raw, queries: Mapping[str, Query], locally: Mapping[str, str] | None = None
    ) -> None:
        """`locally` is what each transaction sets where a pooler is between and no session ours."""
        self.raw = raw
        self.kept = False
        """whether it was used before, so that it may have been lost since"""
        self._queries = queries
        self._pooled = locally is not None
        # In the same message as BEGIN, so that it costs no round trip.
        self._manners = "".join(
            f"; SET LOCAL {name} = '{v}'" for name, v in (locally or {}).items()
        )

    async def execute(self, asked: Statement | Bulk) -> Any:
        query = self._queries[asked.query]
        if isinstance(asked, Statement):
            return await self.raw.fetch(query.text, *query.arguments(asked.params))
        if "unnest(" not in query.text:
            await self.raw.executemany(query.text, asked.rows)
            return len(asked.rows)
        said = await self.raw.execute(query.text, *columns(asked.rows))
        return int(said.rpartition(" ")[2])

    async def each(self, operation: Operation[T], *, together: bool = False) -> T:
        """Run an operation whose statements each stand for themselves, or all of them together.

        Behind a pooler it is always together: a statement would be prepared on one connection
        of the server and executed on another.
        """
        if not together and not self._pooled:
            return await arun(operation, self.execute)
        await self.raw.execute(WRITE + self._manners)
        answer = await arun(operation, self.execute)
        await self.raw.execute("COMMIT")
        return answer

    async def write(self, plan: Plan[T], clock: Callable[[], int] | None) -> T:
        """Run an operation in a transaction; `InDoubt` if it is not known whether that stands."""
        await self.raw.execute(WRITE + self._manners)
        asked = Statement("moment", {"now": clock() if clock else None})
        [(now, number)] = await self.execute(asked)
        answer = await arun(plan(now), self.execute)
        try:
            await self.raw.execute("COMMIT")
        except LOST as error:
            raise InDoubt(number, answer) from error
        return answer

    async def read(self, plan: Plan[T], clock: Callable[[], int] | None) -> T:
        """Run an operation that only reads, on one view of the database."""
        await self.raw.execute(READ + self._manners)
        now = clock() if clock else (await self.execute(Statement("clock")))[0][0]
        answer = await arun(plan(now), self.execute)
        await self.raw.execute("COMMIT")
        return answer

    async def rollback(self) -> None:
        """Leave the transaction, if one is open."""
        if self.raw.is_in_transaction():
            await self.raw.execute("ROLLBACK")


def columns(rows: Rows) -> list[Any]:
    """Rows of parameters as arrays, one for each parameter."""
    return [list(column) for column in zip(*rows, strict=True)]


async def connect(settings: Settings, session: Mapping[str, str] | None) -> Raw:
    """A connection of the driver's own, with settings for its session, unless a pooler is between.

    A pooler refuses settings that it does not know.
    """
    raw: Raw = await asyncpg.connect(
        settings.dsn,
        timeout=settings.connect_timeout,
        command_timeout=settings.timeout,
        statement_cache_size=0 if session is None else 200,
        max_cached_statement_lifetime=0,
        server_settings=dict(session or {}),
    )
    _keep_alive(raw)
    return raw


def _keep_alive(raw: Raw) -> None:
    """Let the system find out that nobody is there any more, also while nothing is asked."""
    transport = getattr(raw, "_transport", None)
    sock = transport and transport.get_extra_info("socket")
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    # Where a system refuses one of these, the limits of each call are left.
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE.items():
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
