"""A terminal of its own, which is typed on and read as a person would: tmux."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.servers.binaries import binary

PATIENCE = 30
"""Seconds after which something will not show any more."""
LOOK_AGAIN = 0.05


class Tmux:
    """One window with a shell in it."""

    def __init__(self, socket: Path, environ: Mapping[str, str]) -> None:
        self._command = [binary("tmux"), "-u", "-S", str(socket), "-f", os.devnull]
        self._environ = dict(environ)

    def start(self, folder: Path, width: int, height: int) -> None:
        # A prompt that nothing else looks like, and an editor that draws nothing over it.
        shell = "env PS1='ready> ' sh"
        self._run(
            "new-session", "-d", "-x", str(width), "-y", str(height), "-c", str(folder), shell
        )
        self.wait_for("ready>")

    def kill(self) -> None:
        self._run("kill-server")

    def type(self, text: str) -> None:
        """Letters, as they are."""
        self._run("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        """Keys by the names that tmux has for them: Enter, Tab, PageDown, C-c."""
        self._run("send-keys", *keys)

    def shell(self, command: str) -> None:
        self.type(command)
        self.press("Enter")

    def resize(self, width: int, height: int) -> None:
        self._run("resize-window", "-x", str(width), "-y", str(height))

    def screen(self, *, colours: bool = False) -> str:
        return self._run("capture-pane", "-p", *(["-e"] if colours else []))

    def lines(self) -> list[str]:
        return self.screen().rstrip("\n").split("\n")

    def wait_until(self, is_so: Callable[[str], bool]) -> str:
        """The screen, once it is as wanted."""
        deadline = time.monotonic() + PATIENCE
        while not is_so(screen := self.screen()):
            assert time.monotonic() < deadline, f"the screen stayed like this:\n{screen}"
            time.sleep(LOOK_AGAIN)
        return screen

    def wait_for(self, *texts: str) -> str:
        return self.wait_until(lambda screen: all(text in screen for text in texts))

    def wait_without(self, text: str) -> str:
        return self.wait_until(lambda screen: text not in screen)

    def _run(self, *words: str) -> str:
        done = subprocess.run(
            [*self._command, *words],
            env=self._environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        return done.stdout


@contextmanager
def terminal(
    folder: Path, environ: Mapping[str, str], width: int = 80, height: int = 24
) -> Iterator[Tmux]:
    made = Tmux(folder / "tmux", {**environ, "LC_ALL": "C.UTF-8", "TERM": "xterm"})
    made.start(folder, width, height)
    try:
        yield made
    finally:
        made.kill()
