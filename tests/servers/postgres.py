"""A private PostgreSQL.

`fsync` is off: it guards against the machine's death, not the server's, and a test can
only kill the server. Commits still reach the kernel before they are acknowledged.
"""

import signal
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers.account import temporary_folder
from tests.servers.binaries import binary
from tests.servers.ports import ask, free_port
from tests.servers.server import Server, prepare

_USER = "windlass"
_DATABASE = "postgres"


@contextmanager
def serve(*options: str) -> Iterator[Server]:
    """PostgreSQL on a free port; `options` are settings such as `max_connections=20`."""
    program, initdb = binary("postgres"), binary("initdb")
    with temporary_folder("postgres") as folder:
        data, port = folder / "data", free_port()
        layout = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        prepare([initdb, f"--pgdata={data}", f"--username={_USER}", *layout], folder)
        settings = [
            f"port={port}",
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "fsync=off",
            "max_connections=200",
            *options,
        ]
        flags = [part for setting in settings for part in ("-c", setting)]
        with Server(
            folder=folder,
            port=port,
            url=f"postgresql://{_USER}@127.0.0.1:{port}/{_DATABASE}",
            command=[program, "-D", str(data), *flags],
            answers=lambda: ask(port, HELLO).startswith(b"R"),
            # SIGTERM would wait for every client to leave on its own.
            stop_signal=signal.SIGINT,
        ) as server:
            yield server


def _hello() -> bytes:
    """A start-up message; the server greets with `R` only once it takes queries."""
    body = f"user\0{_USER}\0database\0{_DATABASE}\0\0".encode()
    return struct.pack("!ii", 8 + len(body), 3 << 16) + body


HELLO = _hello()
