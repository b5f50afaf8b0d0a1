"""A private MariaDB, which stands in for MySQL: both speak the same protocol.

The log is flushed to the kernel and not to the disk: that guards against the machine's
death, not the server's, and a test can only kill the server.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.account import temporary_folder
from tests.servers.binaries import binary
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
        data, port = folder / "data", free_port()
        # Not the folder that all share: two that are laid out at once would meet there.
        apart = f"--tmpdir={folder}"
        layout = ["--auth-root-authentication-method=normal", "--skip-test-db", apart]
        prepare([install, "--no-defaults", f"--datadir={data}", *layout], folder)
        (folder / "account.sql").write_text(_ACCOUNT)
        command = [
            program,
            "--no-defaults",
            f"--datadir={data}",
            apart,
            f"--port={port}",
            "--bind-address=127.0.0.1",
            # Relative to the data folder: a long absolute path would not fit a socket's name.
            "--socket=socket",
            f"--init-file={folder / 'account.sql'}",
            "--innodb-flush-log-at-trx-commit=2",
            "--character-set-server=utf8mb4",
            "--skip-name-resolve",
            *options,
        ]
        with Server(
            folder=folder,
            port=port,
            url=f"mysql://windlass@127.0.0.1:{port}/windlass",
            command=command,
            answers=lambda: _greets(ask(port, b"")),
        ) as server:
            yield server


def _greets(answer: bytes) -> bool:
    """Whether the server offers protocol 10, rather than an error (255) or nothing."""
    return answer[4:5] == b"\x0a"
