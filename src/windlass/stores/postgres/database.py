"""One PostgreSQL database: operations on a few connections, repeated until they are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, cast

import asyncpg
from asyncpg import exceptions as pg

from ...core.clock import Clock
from ...errors import StoreUnavailable
from ..sql.database import Schema
from ..sql.operation import Operation, Plan, Statement, T, one
from ..sql.placeholders import Query, numbered
from ..sql.queries import SHARED
from .connection import ISOLATION, NO_JIT, PLANNER, Connection, Raw, connect
from .effort import FIRST_PAUSE, Effort
from .fault import LOST, InDoubt
from .migrate import check, migrate
from .names import load
from .pool import Pool
from .url import Settings

STORE: Final = Schema((SHARED, "windlass.stores.postgres"))

LOCK_SHARE: Final = 0.8
"""How much of `timeout` a statement may wait for locks."""

Swift = Callable[[int | None, bool], Operation[T]]
"""Makes an operation that needs no transaction, for a moment (None: the server's clock); the
other argument says whether it may have been carried out before, its answer lost."""


Passes = tuple[type[BaseException], ...]
"""Errors that an operation is not begun anew for: its caller has another way."""


class PostgresDatabase:
    """Operations on one database, for one event loop."""

    blocking = False

    def __init__(self, settings: Settings, schema: Schema, clock: Clock | None = None) -> None:
        self.settings = settings
        self.queries: Mapping[str, str] = load(schema, settings.schema)
        self._compiled: Mapping[str, Query] = {
            name: numbered(sql) for name, sql in self.queries.items()
        }
        self._schema = schema
        self._clock = clock
        self._pool: Pool | None = None
        self._pooled = settings.pooler
        # The server gives up before we do: what is waited for is not carried out behind our back.
        patience = str(max(1, int(LOCK_SHARE * 1000 * settings.timeout)))
        planner = PLANNER if schema == STORE else NO_JIT
        self._manners = {**planner, **ISOLATION, "lock_timeout": patience}

    @property
    def pooled(self) -> bool:
        """Whether there is a pooler between, so that a session is not ours to keep."""
        return bool(self._pooled)

    @property
    def has_idle(self) -> bool:
        """Whether a call would find a connection that is open."""
        return self._pool is not None and self._pool.has_idle

    async def open(self) -> None:
        if self._pool is not None:
            return
        prepare = migrate if self.settings.migrate else check
        pool = Pool(self.connect, self.settings.pool)
        try:
            await self._prepare(prepare, pool)
        except BaseException:
            await pool.close()
            raise
        self._pool = pool

    async def close(self) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await pool.close()

    async def migrate(self) -> Sequence[str]:
        pool = Pool(self.connect, 1)
        try:
            return await self._prepare(migrate, pool)
        finally:
            await pool.close()

    async def connect(self) -> Connection:
        """One more connection, the caller's to close; the driver's own errors."""
        raw = await self.connect_raw()
        return Connection(raw, self._compiled, self._manners if self.pooled else None)

    async def connect_raw(self) -> Raw:
        if self._pooled is None:
            try:
                raw = await connect(self.settings, self._manners)
            except pg.ProtocolViolationError as error:
                if "startup parameter" not in str(error):
                    raise
                self._pooled = True
            else:
                self._pooled = False
                return raw
        return await connect(self.settings, None if self.pooled else self._manners)

    async def write(self, plan: Plan[T], passes: Passes = ()) -> T:
        """Run an operation in a transaction; errors that it `passes` on are not tried again."""
        return await self._persist(
            lambda connection, _: connection.write(plan, self._clock), passes=passes
        )

    async def read(self, plan: Plan[T]) -> T:
        return await self._persist(lambda connection, _: connection.read(plan, self._clock))

    async def run(self, plan: Swift[T], passes: Passes = ()) -> T:
        """Run an operation whose statements each stand for themselves."""
        now = self._clock() if self._clock else None
        return await self._persist(
            lambda connection, again: connection.each(plan(now, again), together=again),
            passes=passes,
        )

    async def _prepare(self, act: Callable[[Raw, Settings, Schema], Awaitable[T]], pool: Pool) -> T:
        """Do something that comes before all else, on a connection of this pool."""

        async def once(connection: Connection, again: bool) -> T:
            return await act(connection.raw, self.settings, self._schema)

        return await self._persist(once, pool)

    async def _persist(
        self,
        act: Callable[[Connection, bool], Awaitable[T]],
        pool: Pool | None = None,
        passes: Passes = (),
    ) -> T:
        """Do it until it is answered, or patience is over."""
        pool = pool or self._pool
        if pool is None:
            raise StoreUnavailable("The store is not open; call open() before use.")
        effort = Effort(self.settings)
        doubt: InDoubt | None = None
        while True:
            sent = kept = False
            try:
                async with pool.connection() as connection:
                    sent, kept = True, connection.kept
                    if doubt is not None and await self._stands(connection, doubt):
                        return cast(T, doubt.answer)
                    doubt = None
                    return await act(connection, effort.again)
            except passes:
                raise
            except InDoubt as error:
                doubt = error
                await effort.after(error.__cause__ or error, sent=False)
            except (asyncpg.PostgresError, UnicodeEncodeError, *LOST) as error:
                await effort.after(error, sent=sent, kept=kept and isinstance(error, LOST))

    async def _stands(self, connection: Connection, doubt: InDoubt) -> bool:
        """Whether a transaction was committed whose end was not heard of."""
        async with asyncio.timeout(self.settings.timeout):
            while (status := await connection.each(_status(doubt))) == "in progress":
                await asyncio.sleep(FIRST_PAUSE)
        return status == "committed"


def _status(doubt: InDoubt) -> Operation[str | None]:
    status: str | None = one((yield Statement("committed", {"number": doubt.number})))
    return status
