"""Programs that a page starts and that stay until it ends: workers and servers."""

import re
import signal
import subprocess
from pathlib import Path

from tests.servers.fork_server import WINDLASS, start
from tests.servers.ports import free_port

PATIENCE = 30
"""Seconds for a command, or for a program to stop."""

_PORT = re.compile(r"((?:localhost|127\.0\.0\.1):|--(?:http|grpc)-port )(80[89]\d|90[89]\d)\b")


class Program:
    """One that was started, and what it printed so far."""

    def __init__(self, words: list[str], folder: Path, environ: dict[str, str]) -> None:
        self._process = start(
            [*WINDLASS, *words],
            cwd=folder,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._printed = ""

    def read_until(self, word: str) -> bool:
        """Read what it prints up to a line that has `word` in it; whether one came."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed += line
            if word in line:
                return True
        return False

    def stop(self) -> tuple[int, str]:
        """Stop it as a service manager would; its exit code and all that it printed."""
        if not self._printed:
            # A signal that comes before the greeting may find no one who listens.
            self.read_until("")
        self._process.send_signal(signal.SIGTERM)
        try:
            rest, _ = self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            rest, _ = self._process.communicate()
        return self._process.returncode, self._printed + rest


class Ports:
    """Free ports for those that the pages name: somebody else may serve at 8080 here."""

    def __init__(self) -> None:
        self._free: dict[str, int] = {}

    def environ(self) -> dict[str, str]:
        """What makes a server listen there without being told on the page."""
        return {
            "WINDLASS_SERVER_HTTP_PORT": str(self._port("8080")),
            "WINDLASS_SERVER_GRPC_PORT": str(self._port("9090")),
        }

    def put(self, text: str) -> str:
        """A block as it is run here."""
        return _PORT.sub(lambda found: f"{found[1]}{self._port(found[2])}", text)

    def _port(self, named: str) -> int:
        return self._free.setdefault(named, free_port())
