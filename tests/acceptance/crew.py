"""Worker processes on one store, whoever is killed is replaced; and such stores."""

import signal
import subprocess
from itertools import count
from pathlib import Path

import pytest

from tests.servers.fork_server import start

STORES = ("sqlite", "redis_server", "redis_cluster")
_serial = count()


def url_of(kind: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """The URL of a store without data: in a SQLite file, or on a server's fixture."""
    if kind == "sqlite":
        return f"sqlite:///{folder}/jobs.db"
    server = request.getfixturevalue(kind)
    return f"{server.url}?namespace=crew-{next(_serial)}"


class Crew:
    """Three processes of a program of this folder, which says "ready" when it works."""

    def __init__(self, program: str, url: str) -> None:
        self._program = Path(__file__).with_name(program)
        self._url = url
        self.workers = [self._start() for _ in range(3)]

    def kill(self, number: int) -> None:
        """Kill one, and start another in its place."""
        self._end(self.workers[number])
        self.workers[number] = self._start()

    def close(self) -> None:
        for worker in self.workers:
            self._end(worker)

    def _start(self) -> subprocess.Popen[str]:
        worker = start(
            ["-P", self._program, self._url],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        return worker

    def _end(self, worker: subprocess.Popen[str]) -> None:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        assert worker.stdout is not None
        worker.stdout.close()
