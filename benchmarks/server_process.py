"""`windlass server`, and the handler that it is compared with, each a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from tests.servers.ports import ask, free_port
from windlass import Windlass
from windlass.core.apikey import Role, new_key

from .command import ROOT

DEADLINE = 30.0


class Served(NamedTuple):
    """A server that answers."""

    port: int
    pid: int

    @property
    def resident(self) -> int:
        """Bytes of its memory."""
        pages = Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1]
        return int(pages) * resource.getpagesize()


@contextmanager
def windlass_server(url: str, *words: str) -> Iterator[Served]:
    """Our server for the tasks in `jobs`, with its settings as they come, but without gRPC."""
    port = free_port()
    command = ["windlass.cli.main", "server", "--app", "benchmarks.jobs:app", *words]
    with _process(port, *command, f"--http-port={port}", "--grpc-port=-1", url=url) as served:
        yield served


@contextmanager
def process_on_port(command_of: Callable[[int], list[str]]) -> Iterator[Served]:
    """A server of any make, by the module and the words that start it on a port."""
    port = free_port()
    with _process(port, *command_of(port), url="memory://") as served:
        yield served


@contextmanager
def plain_server() -> Iterator[Served]:
    """The handler of `server_plain`."""
    port = free_port()
    with _process(port, "benchmarks.server_plain", str(port)) as served:
        yield served


def key_for(url: str) -> str:
    """A key that may enqueue and look, in the store."""
    made = new_key([Role.ENQUEUE, Role.READ])
    app = Windlass(url)
    app.client.block(lambda store: store.put_keys([made.key]), "key_for", "put_keys")
    app.close()
    return made.text


@contextmanager
def _process(port: int, *command: str, url: str = "") -> Iterator[Served]:
    # A file, for what is logged is to cost what it costs.
    with TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env={**os.environ, "WINDLASS_URL": url},
            stderr=log,
        )
        try:
            _wait_for(port, process)
            yield Served(port, process.pid)
        finally:
            process.terminate()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + DEADLINE
    while not ask(port, b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"{process.args!r} does not answer: it ended, or takes too long.")
        time.sleep(0.05)
