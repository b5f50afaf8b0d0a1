"""A private place on somebody's server: as empty as a new one, and gone afterwards.

On Redis and MySQL it is a namespace, on PostgreSQL a schema, with SQLite a file beside the one that
the URL names. Nothing that is there is read or written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from ..core.ids import new_id
from ..errors import InvalidOption
from ..stores.open import REDIS_SCHEMES
from ..stores.sqlite import url as sqlite

PREFIX: Final = "windlass_private_"
SCAN: Final = 1_000


@asynccontextmanager
async def private(url: str) -> AsyncIterator[str]:
    """The URL of such a place on the server of `url`."""
    scheme = url.partition("://")[0]
    if scheme not in _KINDS:
        raise InvalidOption(
            f"A private place is made on SQLite, Redis, PostgreSQL and MySQL, not on {scheme}://: "
            "give the URL of the store itself."
        )
    within, remove = _KINDS[scheme]
    place = within(url, PREFIX + new_id()[-12:].lower())
    try:
        yield place
    finally:
        await remove(place)


def _beside(url: str, name: str) -> str:
    path = sqlite.parse(url).path
    _, mark, query = url.partition("?")
    return f"sqlite:///{quote(str(Path(path).with_name(f'{name}.db')))}{mark}{query}"


def _with(option: str) -> Callable[[str, str], str]:
    def within(url: str, name: str) -> str:
        front, _, query = url.partition("?")
        kept = [part for part in query.split("&") if part and not part.startswith(f"{option}=")]
        return f"{front}?{'&'.join([*kept, f'{option}={name}'])}"

    return within


async def _remove_file(url: str) -> None:
    await asyncio.to_thread(_unlink, Path(sqlite.parse(url).path))


def _unlink(path: Path) -> None:
    """Remove a database and what stands beside it, such as its log."""
    for each in path.parent.glob(f"{path.name}*"):
        each.unlink(missing_ok=True)


async def _remove_keys(url: str) -> None:
    from ..stores.redis.keys import SHARDS, slot_of, tags
    from ..stores.redis.transport import open_transport
    from ..stores.redis.url import parse

    settings = parse(url)
    transport = open_transport(settings, False)
    await transport.open()
    try:
        for tag in tags(SHARDS if settings.topology == "cluster" else 1):
            slot, cursor = slot_of(tag), b"0"
            pattern = f"{settings.namespace}:{{{tag}}}:*"
            while True:
                cursor, keys = await transport.send(
                    slot, "SCAN", cursor, "MATCH", pattern, "COUNT", SCAN
                )
                if keys:
                    await transport.send(slot, "UNLINK", *keys)
                if cursor == b"0":
                    break
    finally:
        await transport.close()


async def _remove_schema(url: str) -> None:
    from ..stores.postgres.connection import connect
    from ..stores.postgres.url import parse

    settings = parse(url)
    raw = await connect(settings, None)
    try:
        await raw.execute(f'DROP SCHEMA IF EXISTS "{settings.schema}" CASCADE')
    finally:
        await raw.close()


async def _remove_tables(url: str) -> None:
    from ..stores.mysql.link import connect
    from ..stores.mysql.url import parse

    settings = parse(url)
    link = await connect(settings)
    try:
        asked = (
            "SELECT table_name FROM information_schema.tables "
            f"WHERE table_schema = DATABASE() AND table_name LIKE '{settings.namespace}%'"
        )
        (found,) = await link.ask([asked])
        names = [name for (name,) in found.rows if name.startswith(settings.namespace)]
        if names:
            await link.ask([f"DROP TABLE {', '.join(names)}"])
    finally:
        await link.leave()


Within = Callable[[str, str], str]
Remove = Callable[[str], Awaitable[None]]

_KINDS: Final[Mapping[str, tuple[Within, Remove]]] = {
    "sqlite": (_beside, _remove_file),
    **dict.fromkeys(REDIS_SCHEMES, (_with("namespace"), _remove_keys)),
    **dict.fromkeys(("postgres", "postgresql"), (_with("schema"), _remove_schema)),
    **dict.fromkeys(("mysql", "mariadb"), (_with("namespace"), _remove_tables)),
}
