"""The program on a terminal: it may ask, and draw."""

import contextlib
import os
import pty
import subprocess
from typing import NamedTuple

from tests.cli.program import PATIENCE, Program
from tests.servers.fork_server import WINDLASS, start


class Ended(NamedTuple):
    """How a program ended; `seen` is what the terminal got, `stdout` what went past it."""

    code: int
    stdout: str
    seen: str


def on_terminal(program: Program, *words: str, typed: str = "") -> Ended:
    """Run a command with a terminal for stdin and stderr; its stdout is a pipe."""
    ours, theirs = pty.openpty()
    with (
        os.fdopen(ours, "r+b", buffering=0) as screen,
        start(
            [*WINDLASS, *words],
            cwd=program.folder,
            env={**program.environ, "TERM": "xterm-256color"},
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
        ) as process,
    ):
        os.close(theirs)
        screen.write(typed.encode())
        seen = b""
        with contextlib.suppress(OSError):  # which is how a terminal says that all have left it
            while piece := screen.read(65536):
                seen += piece
        stdout, _ = process.communicate(timeout=PATIENCE)
    return Ended(process.returncode, stdout, seen.decode())
