"""A private MariaDB for one benchmark.

It is started the way the tests start theirs: that finds the program, gives up root, and ends
the server even if the benchmark is killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.mariadb import serve
from tests.servers.mysql_client import fresh_database


@contextmanager
def serving() -> Iterator[str]:
    """The URL of a MariaDB that has nothing in it.

    It keeps all in memory, and its log goes to the kernel and not to the disk: what is compared
    is work, and a disk that others use would blur it.
    """
    with serve("--innodb-buffer-pool-size=1G", "--innodb-log-file-size=512M") as server:
        yield server.url


def clear(url: str) -> str:
    """The URL of a database with nothing in it."""
    return fresh_database(url, "bench")
