"""One connection to the server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Final, NamedTuple

import asyncmy
from asyncmy import errors

from ...errors import MissingExtra, StoreError
from ..sql.operation import Rows
from .fault import distrust, is_lost, too_large
from .script import ROOM, Literal
from .url import Settings

OLDEST_MYSQL: Final = (8, 0, 11)
OLDEST_MARIADB: Final = (10, 6, 0)
"""The first with SKIP LOCKED and JSON_TABLE that were released for use."""

LOCK_WAIT: Final = 10
"""Seconds that a statement waits for a row that another transaction holds."""

_SESSION: Final = (
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;"
    "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', "
    f"innodb_lock_wait_timeout = {LOCK_WAIT}, sql_notes = 0;"
    "SELECT @@max_allowed_packet"
)


def lock_wait(seconds: int) -> str:
    """Has the session wait so long for rows that another transaction holds."""
    return f"SET SESSION innodb_lock_wait_timeout = {seconds}"


class Answer(NamedTuple):
    """What one statement came to."""

    rows: Rows
    """of an insert, the first number that it was given"""
    changed: int


async def _answer(cursor: Any) -> Answer:
    rows = await cursor.fetchall()
    return Answer(rows or [(cursor.lastrowid,)] if cursor.lastrowid else rows, cursor.rowcount)


class Link:
    """A connection that one operation has at a time.

    It is `broken` once it cannot be relied on: lost, or left in the middle of an answer.
    """

    def __init__(self, raw: Any, timeout: float) -> None:
        self._raw = raw
        self._timeout = timeout
        self._packet = 1024 * 1024
        self._escape: Literal = raw.literal
        self.broken = False
        self.used_at = monotonic()
        """when it was last given back"""

    def literal(self, value: Any) -> str:
        """A value as SQL. Numbers, half of all that is written, are spared the driver's tests."""
        return str(value) if type(value) is int else self._escape(value)

    @property
    def room(self) -> int:
        """How many characters of statements to send at once, at the most; one may be larger."""
        return min(self._packet // 4, ROOM)

    async def prepare(self, timeout: float) -> None:
        """Set the session up; nothing else may have been asked before."""
        self._packet = int((await self.ask([_SESSION], timeout))[-1].rows[0][0])

    async def ask(self, statements: Sequence[str], timeout: float | None = None) -> list[Answer]:
        """Send statements in one go; the answer to each. The first that fails ends it."""
        text = ";\n".join(statements)
        # In bytes at the most thrice as long: only then it is worth counting them.
        if len(text) * 3 > self._packet:
            size = len(text.encode("utf-8", "surrogateescape"))
            if size > self._packet - 64:
                raise too_large(f"{size:,} bytes, {self._packet:,} are allowed")
        try:
            async with asyncio.timeout(self._timeout if timeout is None else timeout):
                return await self._ask(text)
        except TimeoutError:
            self.close()
            raise errors.OperationalError(2013, "no answer in time") from None
        except errors.Error as error:
            if is_lost(error):
                self.close()
            raise
        except BaseException:
            self.close()
            raise

    async def _ask(self, text: str) -> list[Answer]:
        cursor = self._raw.cursor()
        await cursor.execute(text)
        answers = [await _answer(cursor)]
        while await cursor.nextset():
            answers.append(await _answer(cursor))
        return answers

    async def rollback(self) -> None:
        """Give up the transaction, if there is one; whatever fails here breaks the link."""
        if not self.broken:
            with suppress(errors.Error):  # the server rolls back what hangs up
                await self.ask(["ROLLBACK"])
                return
            self.close()

    def close(self) -> None:
        """Hang up; the server rolls back what was not committed."""
        self.broken = True
        self._raw.close()

    async def leave(self) -> None:
        """Say goodbye and hang up."""
        if not self.broken:
            self.broken = True
            # A goodbye is a courtesy: the line is closed below in any case.
            with suppress(errors.Error, OSError, TimeoutError):
                async with asyncio.timeout(1):
                    await self._raw.ensure_closed()
        self._raw.close()


async def connect(settings: Settings) -> Link:
    """One more connection; raises what the driver raises, and `StoreError` for a bad server."""
    try:
        # The driver's own limit is over before the server has said anything.
        async with asyncio.timeout(settings.connect_timeout):
            raw = await asyncmy.connect(
                host=settings.host,
                port=settings.port,
                user=settings.user,
                password=settings.password,
                database=settings.database,
                unix_socket=settings.socket,
                ssl=settings.tls,
                connect_timeout=settings.connect_timeout,
                charset="utf8mb4",
                autocommit=True,
                program_name="windlass",
            )
    except TimeoutError:
        raise errors.OperationalError(2003, "no answer in time") from None
    except errors.OperationalError as error:
        raise distrust(error, settings.where) or error from error.__cause__
    except RuntimeError as error:
        # The driver's word for it; without TLS, MySQL 8 wants the password encrypted by itself.
        if "cryptography" not in str(error):
            raise
        raise MissingExtra(
            f"{settings.where} wants the password encrypted: pip install 'windlass[crypto]', or "
            "encrypt all with tls=on in the URL."
        ) from None
    link = Link(raw, settings.timeout)
    try:
        check_version(raw.get_server_info(), settings.where)
        await link.prepare(settings.connect_timeout)
    except BaseException:
        link.close()
        raise
    return link


def check_version(said: str, where: str) -> None:
    """Refuse a server that lacks what the queries need."""
    mariadb = "mariadb" in said.lower()
    # For old clients, MariaDB pretends to be something else first.
    numbers = re.findall(r"\d+", said.removeprefix("5.5.5-"))
    oldest = OLDEST_MARIADB if mariadb else OLDEST_MYSQL
    if tuple(map(int, numbers[:3])) < oldest:
        name = "MariaDB" if mariadb else "MySQL"
        raise StoreError(
            f"{where} is {said}, which is too old: windlass needs SKIP LOCKED and JSON_TABLE, "
            f"which {name} has since {'.'.join(map(str, oldest))}."
        )
