"""A shop with workers, and a terminal to watch it on."""

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import COMMAND, Program, read_until
from tests.cli.top.tmux import Tmux, terminal
from windlass import connect

SHOP = """
import asyncio
from pathlib import Path

from windlass import Context, Fatal, Windlass

app = Windlass()


@app.task(queue="mail")
async def greet(name: str) -> str:
    return f"Hello, {name}!"


@app.task(queue="mail")
async def refuse() -> None:
    raise Fatal("not today")


@app.task(queue="films", context=True)
async def cut(context: Context, minutes: int) -> None:
    context.progress(40, "cutting")
    await asyncio.sleep(3600)
"""


class Site:
    """A folder with a shop, its store, and a terminal in it."""

    def __init__(self, folder: Path, screen: Tmux, url: str) -> None:
        self.program = Program(folder)
        (folder / "shop.py").write_text(SHOP, "utf-8")
        self.url = url
        self.screen = screen
        self.jobs = connect(url)

    def enqueue(self, task: str, *args: Any, queue: str, **options: Any) -> str:
        return self.jobs.task(task, queue=queue, **options).enqueue(*args).id

    @contextmanager
    def worker(self) -> Iterator[subprocess.Popen[str]]:
        words = ("worker", "shop:app", "--queues", "mail,films", "--url", self.url)
        with self.program.started(*words) as process:
            read_until(process, "started on")
            yield process

    def top(self, *words: str, environ: str = "") -> Tmux:
        """Start the view and wait for its first frame."""
        self.command(*words, environ=environ)
        self.screen.wait_for("windlass top", "Queues", "quit")
        return self.screen

    def command(self, *words: str, environ: str = "", after: str = "") -> None:
        command = shlex.join([*COMMAND, "top", "--url", self.url, "--interval", "0.5", *words])
        self.screen.shell(f"clear; {environ} {command} {after}")

    def close(self) -> None:
        self.jobs.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A store on SQLite, 80 by 24."""
    with made_site(tmp_path, f"sqlite:///{tmp_path}/jobs.db") as made:
        yield made


@contextmanager
def made_site(folder: Path, url: str) -> Iterator[Site]:
    environ = Program(folder).environ
    with ExitStack() as stack:
        screen = stack.enter_context(terminal(folder, environ))
        made = Site(folder, screen, url)
        stack.callback(made.close)
        yield made
