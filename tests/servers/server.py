"""One private server.

`kill` is a crash, not a shutdown: the folder stays as it was at that instant, and `start`
brings the server back on the same port to recover from it.
"""

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.servers import process, versions


class DidNotStart(Exception):
    """The server ended, or stayed silent; the message carries the end of its log."""


class Unhealthy(Exception):
    """Servers that belong together did not come to an agreement in time."""


@dataclass(kw_only=True)
class Server:
    """A server reachable at `url` that keeps everything it writes in `folder`."""

    folder: Path
    port: int
    url: str
    command: Sequence[str]
    answers: Callable[[], bool]
    stop_signal: signal.Signals = signal.SIGTERM
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _guard: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The process id; an error while the server is down."""
        if self._process is None:
            raise RuntimeError(f"{self.command[0]} is not running")
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether there is a process; it may be frozen or not answer yet."""
        return self._process is not None and self._process.poll() is None

    def freeze(self) -> None:
        """Stop the process in its tracks: connections stay open, nothing is answered.

        On return all its threads have stopped: on a busy machine one may go on for a moment.
        """
        os.kill(self.pid, signal.SIGSTOP)
        if not process.wait_until(lambda: process.is_stopped(self.pid)):
            raise Unhealthy(f"{self.command[0]} did not stop")

    def thaw(self) -> None:
        """Let a frozen process go on."""
        os.kill(self.pid, signal.SIGCONT)

    def start(self) -> None:
        """Start the server and return once it answers."""
        if self._process is not None:
            raise RuntimeError(f"{self.command[0]} is already running")
        versions.note(self.command[0])
        started = process.spawn(self.command, self.folder, self._log)
        self._process, self._guard = started, process.guard(started, self.folder)
        process.wait_until(lambda: started.poll() is not None or self.answers())
        # An answer alone proves little: a stranger may have been quicker to take the port.
        if started.poll() is not None or not self.answers():
            self.kill()
            raise DidNotStart(f"{self.command[0]}:\n{self._last_words()}")

    def stop(self) -> None:
        """Shut down in good order; killed only if that takes unreasonably long."""
        if self._process is not None:
            self._process.send_signal(self.stop_signal)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(process.PATIENCE)
        self.kill()

    def kill(self) -> None:
        """`kill -9`. Harmless when the server is already down."""
        if self._process is not None:
            process.kill(self._process)
        if self._guard is not None:
            # Its pipe closes last, or the guard would take that for the death of the tests.
            self._guard.kill()
            self._guard.communicate()
        self._process = self._guard = None

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _last_words(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-20:])


def prepare(command: Sequence[str], folder: Path) -> None:
    """Run a program that lays out a data folder, as the account the server will run under."""
    log = folder / "prepare.log"
    if process.spawn(command, folder, log).wait(process.PATIENCE) != 0:
        raise DidNotStart(f"{command[0]}:\n{log.read_text(errors='replace')}")
