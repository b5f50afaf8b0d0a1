"""The program as a user has it: a process of its own, in a folder of its own.

Its processes are forked, see `fork_server.py`, but for those of which a test says that an
interpreter is to be started for them.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.servers.fork_server import WINDLASS, run, start

SOURCE = str(Path(__file__).parents[2] / "src")
COMMAND = [sys.executable, *WINDLASS]
"""It for an interpreter of its own."""
PATIENCE = 60
"""Seconds after which a process hangs."""
NOTHING: Mapping[str, str] = {}

SHOP = """
import asyncio
import time
from pathlib import Path

from windlass import Fatal, Windlass

app = Windlass()
number = 3


@app.task(queue="sums", priority=80, max_retries=1)
def add(a: int, b: int = 2) -> int:
    return a + b


@app.task
async def greet(name: str) -> str:
    return f"Hello, {name}!"


@app.task
def gate() -> str:
    Path("entered").touch()
    while not Path("open").exists():
        time.sleep(0.01)
    return "through"


@app.task
def refuse() -> None:
    raise Fatal("not today")


@app.task
async def loop() -> str:
    return type(asyncio.get_running_loop()).__module__
"""


class Program:
    """Runs `windlass` in a folder that has `shop.py` and, once it is used, `jobs.db`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder}/jobs.db"
        self.environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("WINDLASS_") and name not in ("COLUMNS", "FORCE_COLOR")
        } | {"PYTHONPATH": SOURCE, "WINDLASS_URL": self.url}
        (folder / "shop.py").write_text(SHOP, "utf-8")

    def __call__(
        self, *words: str, environ: Mapping[str, str] = NOTHING
    ) -> subprocess.CompletedProcess[str]:
        return run(
            [*WINDLASS, *words],
            cwd=self.folder,
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    @contextmanager
    def started(
        self,
        *words: str,
        stdout: int = subprocess.DEVNULL,
        environ: Mapping[str, str] = NOTHING,
    ) -> Iterator[subprocess.Popen[str]]:
        """A process that goes on; its stderr is a pipe. It does not outlive the test."""
        process = start(
            [*WINDLASS, *words],
            cwd=self.folder,
            env={**self.environ, **environ},
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    @contextmanager
    def interpreted(
        self, *words: str, environ: Mapping[str, str] = NOTHING
    ) -> Iterator[subprocess.Popen[str]]:
        """As `started`, by an interpreter that is started for it."""
        process = subprocess.Popen(
            [*COMMAND, *words],
            cwd=self.folder,
            env={**self.environ, **environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    def enqueue(self, *words: str) -> str:
        """The id of a job that was enqueued from the shell."""
        done = self("enqueue", "-A", "shop:app", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def job(self, id: str) -> dict[str, Any]:
        """What the program tells of a job."""
        done = self("job", id, "--json")
        assert done.returncode == 0, done.stderr
        fields: dict[str, Any] = json.loads(done.stdout)
        return fields


def read_until(process: subprocess.Popen[str], word: str) -> str:
    """Read what a process logs up to the line that has `word`, and give that line."""
    assert process.stderr is not None
    seen = []
    for line in process.stderr:
        seen.append(line)
        if word in line:
            return line
    raise AssertionError(f"it ended without saying {word!r}:\n{''.join(seen)}")
