"""One MySQL or MariaDB database: operations, each in one transaction, repeated where that helps."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import monotonic
from typing import Final

from asyncmy import errors

from ...core.clock import Clock
from ...errors import StoreUnavailable
from ..sql.database import Schema
from ..sql.operation import Operation, Plan, Rows, Statement, T, arun
from ..sql.queries import SHARED, load_queries
from .columns import JOB_COLUMNS
from .fault import in_our_words, is_conflict, is_lost, is_passing
from .link import LOCK_WAIT, Link, lock_wait
from .migrate import check, migrate
from .pool import Pool
from .script import Script, compiled, statements
from .session import READ, WRITE, Session, transact
from .url import Settings

FIRST_PAUSE: Final = 0.005
LONGEST_PAUSE: Final = 0.5


class MysqlDatabase:
    """Operations on one database, for one event loop."""

    blocking = False

    def __init__(self, settings: Settings, schema: Schema, clock: Clock | None = None) -> None:
        self._settings = settings
        self._schema = schema
        self._clock = clock
        self.queries = _load(settings, schema)
        self._scripts = {name: compiled(text) for name, text in self.queries.items()}
        self._pool: Pool | None = None

    async def open(self) -> None:
        if self._pool is not None:
            return
        self._pool = Pool(self._settings)
        try:
            if self._settings.migrate:
                await self.migrate()
            else:
                await self._repeatedly(self._check)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def migrate(self) -> Sequence[str]:
        if self._pool is not None:
            return await self._repeatedly(self._migrate)
        self._pool = Pool(self._settings)
        try:
            return await self._repeatedly(self._migrate)
        finally:
            await self.close()

    async def write(self, plan: Plan[T], foreseen: Sequence[Statement] = ()) -> T:
        """As in `Database`; statements that are `foreseen` cost no round trip of their own."""
        return await self._repeatedly(lambda link: self._transact(link, plan, WRITE, foreseen))

    async def hurry(self, quick: Callable[[int | None], Operation[T]], plan: Plan[T]) -> T:
        """Run `quick`, which may not need to know the time; if that fails, `plan`."""
        tries = iter((True,))

        async def act(link: Link) -> T:
            if next(tries, False):
                return await self._hurry(link, quick)
            return await self._transact(link, plan, WRITE, ())

        return await self._repeatedly(act)

    async def read(self, plan: Plan[T], foreseen: Sequence[Statement] = ()) -> T:
        return await self._repeatedly(lambda link: self._transact(link, plan, READ, foreseen))

    async def ask(self, *asked: Statement) -> Sequence[Rows]:
        """The rows of single queries that change nothing, each on a view of its own."""

        async def act(link: Link) -> Sequence[Rows]:
            texts = [_single(self._scripts[each.query], each, link) for each in asked]
            return [answer.rows for answer in await link.ask(texts)]

        return await self._repeatedly(act)

    async def _transact(
        self, link: Link, plan: Plan[T], begin: Sequence[str], foreseen: Sequence[Statement]
    ) -> T:
        session = Session(link, self._scripts)
        try:
            return await transact(session, plan, self._clock, foreseen, begin)
        except BaseException:
            await session.abandon()
            raise

    async def _hurry(self, link: Link, quick: Callable[[int | None], Operation[T]]) -> T:
        session = Session(link, self._scripts)
        session.begin_late(WRITE)
        try:
            now = None if self._clock is None else self._clock()
            answer = await arun(quick(now), session.execute)
            await session.commit()
        except BaseException:
            await session.abandon()
            raise
        return answer

    async def _migrate(self, link: Link) -> Sequence[str]:
        return await migrate(link, self._schema, self._settings)

    async def _check(self, link: Link) -> None:
        await check(link, self._schema, self._settings)

    async def write_soon(self, plan: Plan[T], seconds: int) -> T:
        """As `write`, but wait no longer than that for rows of other transactions."""

        async def act(link: Link) -> T:
            await link.ask([lock_wait(seconds)])
            try:
                return await self._transact(link, plan, WRITE, ())
            finally:
                if not link.broken:
                    await link.ask([lock_wait(LOCK_WAIT)])

        return await self._repeatedly(act, float(seconds))

    async def _repeatedly(
        self, act: Callable[[Link], Awaitable[T]], patience: float | None = None
    ) -> T:
        """Act on a link, again and again while what fails may pass, as long as patience lasts."""
        deadline = monotonic() + (self._settings.patience if patience is None else patience)
        pause = FIRST_PAUSE
        while True:
            pool = self._pool
            if pool is None:
                raise StoreUnavailable("The store is not open; call open() before use.")
            try:
                async with pool.link() as link:
                    return await act(link)
            except (errors.Error, OSError) as error:
                if is_lost(error):
                    pool.doubt()
                if not is_passing(error) or monotonic() >= deadline:
                    raise in_our_words(error, self._settings.where) from error
                # Who collided may try at once; who found nobody there has time.
                pause = pause if is_conflict(error) else max(pause, 0.05)
            await asyncio.sleep(random.uniform(0, pause))
            pause = min(pause * 1.6, LONGEST_PAUSE)


def _load(settings: Settings, schema: Schema) -> Mapping[str, str]:
    queries = load_queries(*schema.packages, columns=JOB_COLUMNS)
    return {name: settings.named(text) for name, text in schema.variants(queries).items()}


def _single(script: Script, asked: Statement, link: Link) -> str:
    [text] = statements(script, asked.params, link.literal)
    return text


STORE: Final = Schema((SHARED, "windlass.stores.mysql"))
