"""A private Redis.

It keeps an append-only file, as any Redis that holds jobs should: without one, a kill
loses everything and there would be nothing to test.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.servers.account import temporary_folder
from tests.servers.binaries import binary, packaged
from tests.servers.ports import ask, free_port
from tests.servers.server import Server


@contextmanager
def serve(*options: str, program: str | None = None) -> Iterator[Server]:
    """Redis on a free port; `options` are added to its command line.

    `program` is another one that speaks the protocol, such as Valkey.
    """
    program = program or binary("redis-server")
    with temporary_folder("redis") as folder:
        port = free_port()
        command = [
            program,
            f"--port {port}",
            "--bind 127.0.0.1",
            f"--dir {folder}",
            "--appendonly yes",
            # By the default, a write waits in the server while the disk is busy with the one
            # before, and dies with it.
            "--appendfsync no",
            "--save ''",
            *options,
        ]
        with Server(
            folder=folder,
            port=port,
            url=f"redis://127.0.0.1:{port}/0",
            command=command,
            answers=lambda: ask(port, b"PING\r\n").startswith(b"+PONG"),
        ) as server:
            yield server


@contextmanager
def serve_packaged(name: str, package: str, *options: str) -> Iterator[Server]:
    """The server program `name` out of a Python package.

    It runs from a copy: the account may not be able to look into our Python's folders.
    """
    source = packaged(name, package)
    with temporary_folder(package) as folder:
        program = Path(shutil.copy(source, folder / name))
        program.chmod(0o755)
        with serve(*options, program=str(program)) as server:
            yield server


def tell(port: int, *words: object) -> Any:
    """What a server answers to one command. Nothing is repeated; waits at most 10 s."""
    client = _client(port)
    try:
        return client.execute_command(*words)
    finally:
        # The server may be another one by the next time.
        client.connection_pool.disconnect(inuse_connections=False)


@cache
def _client(port: int) -> Any:
    """To make one takes longer than what is asked of it."""
    return Redis(
        port=port,
        socket_timeout=10,
        decode_responses=True,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
    )
