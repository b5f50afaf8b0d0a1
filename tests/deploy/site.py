"""The example app where a service manager would have put it, and its processes."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.acceptance.process import until
from tests.deploy.files import DEPLOY, EXAMPLE
from tests.deploy.services import Start
from tests.servers.fork_server import WINDLASS, run, start
from tests.servers.ports import ask, free_port

HELLO = b"GET /livez HTTP/1.0\r\n\r\n"
PATIENCE = 60
"""Seconds after which a process hangs."""


class Site:
    """A folder with the app and the settings of a start, on a store of its own."""

    def __init__(self, folder: Path, start: Start) -> None:
        self.folder = folder
        self.start = start
        self.port = free_port()
        for source in (EXAMPLE / "shop.py", start.folder / "windlass.toml"):
            shutil.copy(source, folder)
        kept = {name: text for name, text in os.environ.items() if "WINDLASS_" not in name}
        given = {name: text for name, text in start.environ.items() if "WINDLASS_" in name}
        self.environ = {
            **kept,
            **given,
            "WINDLASS_URL": f"sqlite:///{folder}/jobs.db",
            # The usual ports may be taken here.
            "WINDLASS_SERVER_HTTP_PORT": str(self.port),
            "WINDLASS_SERVER_GRPC_PORT": "0",
        }

    def run(self, *words: str) -> str:
        """What a command prints, from within the same place."""
        done = run(
            [*WINDLASS, *words],
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @contextmanager
    def started(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """The process of the start, or one of these words. It does not outlive the test."""
        with (self.folder / "log").open("ab") as errors:
            process = start(
                [*WINDLASS, *self._with_free_port(list(words or self.start.words))],
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stderr=errors,
            )
        with process:
            try:
                yield process
            finally:
                process.kill()

    def _with_free_port(self, words: list[str]) -> list[str]:
        """The words of a worker, of which others may be starting one at the same time."""
        if "--metrics-port" in words:
            words[words.index("--metrics-port") + 1] = str(free_port())
        return words

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def await_health(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until the server listens, and ask the health check of the image."""
        until(lambda: process.poll() is not None or ask(self.port, HELLO), "somebody to answer")
        assert process.poll() is None, self.log()
        done = run(
            ["-P", DEPLOY / "health.py"], cwd=self.folder, env=self.environ, timeout=PATIENCE
        )
        assert done.returncode == 0, self.log()

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
        """The status and the text that the server answers."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with closing(connection):
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": "application/json"} | sent)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def stop(self, process: subprocess.Popen[bytes]) -> int:
        """Stop it as a service manager does; its exit code."""
        process.send_signal(signal.SIGTERM)
        return process.wait(min(self.start.grace, PATIENCE))
