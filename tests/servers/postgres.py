"""A private PostgreSQL.

`fsync` is off: it guards against the machine's death, not the server's, and a test can
only kill the server. Commits still reach the kernel before they are acknowledged.
"""

import shutil
import signal
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.servers.account import temporary_folder
from tests.servers.binaries import binary
from tests.servers.layout import lay_out
from tests.servers.ports import ask, free_port
from tests.servers.server import Server, prepare

_USER = "windlass"
_DATABASE = "postgres"


@contextmanager
def serve(*options: str) -> Iterator[Server]:
    """PostgreSQL on a free port; `options` are settings such as `max_connections=20`."""
    program, initdb = binary("postgres"), binary("initdb")
    with temporary_folder("postgres") as folder:
        lay_out("postgres", _data(folder), partial(_build, initdb))
        with _server(program, folder, *options) as server:
            yield server


def _build(initdb: str, data: Path) -> None:
    with temporary_folder("initdb") as folder:
        layout = ["--auth=trust", "--encoding=UTF8", "--locale=C", "-N"]
        made = _data(folder)
        prepare([initdb, f"--pgdata={made}", f"--username={_USER}", *layout], folder)
        shutil.move(made, data)


@contextmanager
def serve_replica(primary: Server) -> Iterator[Server]:
    """A PostgreSQL that streams from another one, and takes no writes until it is promoted."""
    backup = binary("pg_basebackup")
    with temporary_folder("replica") as folder:
        how = ["--checkpoint=fast", "--no-sync", "--write-recovery-conf"]
        prepare([backup, f"--dbname={primary.url}", f"--pgdata={_data(folder)}", *how], folder)
        with _server(binary("postgres"), folder) as server:
            yield server


def promote(replica: Server) -> None:
    """Make a replica a primary; it takes writes on return."""
    prepare([binary("pg_ctl"), "promote", f"--pgdata={_data(replica.folder)}"], replica.folder)


def _data(folder: Path) -> Path:
    return folder / "data"


def _server(program: str, folder: Path, *options: str) -> Server:
    """The server of a folder that is laid out, on a free port."""
    port = free_port()
    settings = [
        f"port={port}",
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "fsync=off",
        "max_connections=200",
        *options,
    ]
    flags = [part for setting in settings for part in ("-c", setting)]
    return Server(
        folder=folder,
        port=port,
        url=f"postgresql://{_USER}@127.0.0.1:{port}/{_DATABASE}",
        command=[program, "-D", str(_data(folder)), *flags],
        answers=lambda: ask(port, HELLO).startswith(b"R"),
        # SIGTERM would wait for every client to leave on its own.
        stop_signal=signal.SIGINT,
    )


def _hello() -> bytes:
    """A start-up message; the server greets with `R` only once it takes queries."""
    body = f"user\0{_USER}\0database\0{_DATABASE}\0\0".encode()
    return struct.pack("!ii", 8 + len(body), 3 << 16) + body


HELLO = _hello()
