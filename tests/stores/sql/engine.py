"""The SQL engines that have a server, for tests that are the same on each of them."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from typing import Any

from tests.servers import mariadb, postgres
from tests.servers.server import Server
from tests.stores.mysql import site as mysql_site
from tests.stores.postgres import site as postgres_site
from windlass.stores.mysql.insert import insert as mysql_insert
from windlass.stores.postgres.insert import insert as postgres_insert
from windlass.stores.sql.store import SqlStore


@dataclass(frozen=True, kw_only=True)
class Engine:
    """How one engine is served, used and hurt."""

    serve_small: Callable[[], AbstractContextManager[Server]]
    """a server that gives 20 connections and no more"""
    emptied: Callable[..., str]
    """the URL of tables with nothing in them, from that of a server; one at a time"""
    opened: Callable[[str], AbstractAsyncContextManager[SqlStore]]
    hang_up: Callable[[str], Awaitable[int]]
    """ends every connection; how many it was"""
    crowd: Callable[[str], AbstractAsyncContextManager[None]]
    """holds every connection that there is"""
    insert: Callable[..., Any]
    claiming: bytes
    """what only the request has by which `lost-worker` gets its jobs"""
    silent: str
    """what is said of a server that does not answer"""


ENGINES = {
    "postgres": Engine(
        serve_small=lambda: postgres.serve("max_connections=20"),
        emptied=postgres_site.emptied,
        opened=postgres_site.opened,
        hang_up=postgres_site.terminate_all,
        crowd=postgres_site.crowd,
        insert=postgres_insert,
        claiming=b"lost-worker",
        silent=r"did not answer as it should for 0\.2 s",
    ),
    "mariadb": Engine(
        serve_small=lambda: mariadb.serve("--max-connections=20"),
        emptied=mysql_site.emptied,
        opened=mysql_site.opened,
        hang_up=mysql_site.kill_all,
        crowd=mysql_site.crowd,
        insert=mysql_insert,
        claiming=b"COMMIT",
        silent=r"does not answer \(.+\); see that it runs",
    ),
}
