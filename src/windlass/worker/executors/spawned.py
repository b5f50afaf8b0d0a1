"""A child process as its worker sees it: started, spoken to, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from multiprocessing.spawn import get_preparation_data
from multiprocessing.util import _args_from_interpreter_flags  # type: ignore[attr-defined]
from typing import Any, Final

from .child import Greeting

BOOT: Final = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from windlass.worker.executors.child import main; main(int(sys.argv[1]))"
)


class Spawned:
    """One child and the pipe to it. All of it blocks, so it is for threads."""

    jobs = 0
    """how many it has done"""
    resident = 0
    """how much memory it had after the last of them, in bytes, if that is asked"""
    idle_since = 0.0

    def __init__(self) -> None:
        mine, theirs = Pipe()
        self._pipe: Connection[Any, Any] = mine
        with theirs:
            number = theirs.fileno()
            command = [sys.executable, *_args_from_interpreter_flags(), "-c", BOOT, str(number)]
            self._process = subprocess.Popen(
                [*command, *sys.path],
                stdin=subprocess.DEVNULL,
                pass_fds=[number],
                # A group of its own: Ctrl-C is for the worker, and what the handler has
                # started can be killed with it.
                process_group=0,
            )
        self._pipe.send(Greeting(sys.argv, _main_module()))

    def send(self, order: bytes) -> None:
        """Raises `OSError` if the child is gone; then it has not begun."""
        # The pipe of one that was just killed may take the order still.
        if self._process.poll() is not None:
            raise BrokenPipeError
        self._pipe.send_bytes(order)

    def receive(self) -> bytes:
        """Raises `EOFError` or `OSError` if the child is gone."""
        return self._pipe.recv_bytes()

    def hang_up(self) -> None:
        """Tell the child to end."""
        self._pipe.close()

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def end(self, patience: float) -> str:
        """Close the pipe, wait for the end, kill after `patience` seconds; how it ended."""
        self.hang_up()
        try:
            code = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.wait()
        if code >= 0:
            return f"ended with exit code {code}"
        known = {each.value: each.name for each in signal.Signals}
        return f"was killed by {known.get(-code, f'signal {-code}')}"


def _main_module() -> dict[str, str]:
    """How a child can import the main module, if a handler is in it."""
    data = get_preparation_data("windlass")
    return {name: value for name, value in data.items() if name.startswith("init_main")}
