"""A private MariaDB, and what a MySQL is started with as well: both speak the same protocol.

The log is flushed to the kernel and not to the disk: that guards against the machine's
death, not the server's, and a test can only kill the server.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.servers.account import temporary_folder
from tests.servers.binaries import binary
from tests.servers.layout import lay_out
from tests.servers.mysql_client import query
from tests.servers.ports import ask, free_port
from tests.servers.server import Server, prepare

# Run at every start, one statement to a line: the server reads it line by line.
_ACCOUNT = """\
CREATE DATABASE IF NOT EXISTS windlass;
CREATE USER IF NOT EXISTS windlass@'127.0.0.1';
GRANT ALL ON *.* TO windlass@'127.0.0.1' WITH GRANT OPTION;
"""


@contextmanager
def serve(*options: str) -> Iterator[Server]:
    """MariaDB on a free port; `options` are added to its command line."""
    program, install = binary("mariadbd"), binary("mariadb-install-db")
    with temporary_folder("mariadb") as folder:
        apart = f"--tmpdir={folder}"
        lay_out("mariadb", data(folder), partial(_build, install))
        with server(program, folder, apart, *options) as started:
            yield started


def _build(install: str, made: Path) -> None:
    with temporary_folder("install") as folder:
        # Not the folder that all share: two that are laid out at once would meet there.
        apart = f"--tmpdir={folder}"
        layout = ["--auth-root-authentication-method=normal", "--skip-test-db", apart]
        prepare([install, "--no-defaults", f"--datadir={data(folder)}", *layout], folder)
        shutil.move(data(folder), made)


def server(program: str, folder: Path, *options: str) -> Server:
    """The server of a folder whose data are laid out, on a free port."""
    port, account = free_port(), folder / "account.sql"
    account.write_text(_ACCOUNT)
    command = [
        program,
        "--no-defaults",
        f"--datadir={data(folder)}",
        f"--port={port}",
        "--bind-address=127.0.0.1",
        # Relative to the data folder: a long absolute path would not fit a socket's name.
        "--socket=socket",
        f"--init-file={account}",
        "--innodb-flush-log-at-trx-commit=2",
        "--character-set-server=utf8mb4",
        "--skip-name-resolve",
        *options,
    ]
    return Server(
        folder=folder,
        port=port,
        url=f"mysql://windlass@127.0.0.1:{port}/windlass",
        command=command,
        answers=lambda: _greets(ask(port, b"")),
    )


def data(folder: Path) -> Path:
    return folder / "data"


@contextmanager
def serve_replica(primary: Server) -> Iterator[Server]:
    """A MariaDB that follows another one and takes no writes but those of administrators.

    The other one must have been started with `--log-bin`.
    """
    with serve("--server-id=2", "--read-only") as replica:
        query(
            replica.url,
            f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={primary.port}, "
            "MASTER_USER='windlass', MASTER_USE_GTID=slave_pos",
            "START SLAVE",
        )
        yield replica


def promote(replica: Server) -> None:
    """Make a replica a primary."""
    query(replica.url, "STOP SLAVE", "SET GLOBAL read_only = 0")


def _greets(answer: bytes) -> bool:
    """Whether the server offers protocol 10, rather than an error (255) or nothing."""
    return answer[4:5] == b"\x0a"
