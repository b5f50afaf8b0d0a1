"""A private PostgreSQL and a private MariaDB that take some users over TLS alone.

`windlass` may come without, to lay things out and to see whether the server is up. `safe` must
speak TLS, `known` must also show a certificate. Both servers are at 127.0.0.2 as well, an address
that their certificates do not name.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.servers import mariadb, postgres
from tests.servers.account import temporary_folder
from tests.servers.certificates import Certificates, Tls, certify
from tests.servers.mysql_client import query

ADDRESSES = "127.0.0.1,127.0.0.2"

_RULES = """\
host    all windlass 127.0.0.0/8 trust
hostssl all safe     127.0.0.0/8 trust
hostssl all known    127.0.0.0/8 trust clientcert=verify-ca
"""


@contextmanager
def postgres_tls() -> Iterator[Tls]:
    with temporary_folder("certificates") as folder:
        files, rules = certify(folder), folder / "rules"
        rules.write_text(_RULES)
        with postgres.serve(
            f"listen_addresses={ADDRESSES}",
            f"hba_file={rules}",
            "ssl=on",
            *(f"ssl_{name}_file={file}" for name, file in _identity(files)),
        ) as server:
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute("CREATE ROLE safe SUPERUSER LOGIN")
                connection.execute("CREATE ROLE known SUPERUSER LOGIN")
            yield Tls(server, files)


@contextmanager
def mariadb_tls() -> Iterator[Tls]:
    with temporary_folder("certificates") as folder:
        files = certify(folder)
        with mariadb.serve(
            f"--bind-address={ADDRESSES}",
            *(f"--ssl-{name}={file}" for name, file in _identity(files)),
        ) as server:
            query(
                server.url,
                "CREATE USER safe@'127.0.0.1' REQUIRE SSL",
                "CREATE USER known@'127.0.0.1' REQUIRE X509",
                "GRANT ALL ON *.* TO safe@'127.0.0.1', known@'127.0.0.1'",
            )
            yield Tls(server, files)


def _identity(files: Certificates) -> list[tuple[str, Path]]:
    """What a server proves itself with, and whom it believes."""
    return [
        ("cert", files.certificate("server")),
        ("key", files.key("server")),
        ("ca", files.authority),
    ]
