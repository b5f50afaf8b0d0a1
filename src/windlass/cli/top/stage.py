"""The terminal as the view has it, and as it was found before."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from .frame import Style
from .keyboard import Keyboard, suspend
from .screen import COLOURS, NO_COLOURS, Screen
from .session import Notes, Session

WITHOUT_COLOURS = ("vt52", "vt100", "vt102", "vt220", "vt320", "vt420")


def styles(environ: Mapping[str, str]) -> Mapping[Style, str]:
    """Colours, unless the user or the terminal can do without."""
    mono = environ.get("NO_COLOR") or environ.get("TERM", "").startswith(WITHOUT_COLOURS)
    return NO_COLOURS if mono else COLOURS


class Stage:
    """Takes the terminal over for a session, and gives it back however that ends."""

    def __init__(self, terminal: int, screen: Screen, session: Session) -> None:
        self._screen = screen
        self._session = session
        self._keyboard = Keyboard(terminal, session.press, session.quit)
        self._stderr: int | None = None

    async def play(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._session.quit)
        loop.add_signal_handler(signal.SIGWINCH, self._session.redraw)
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        with _noted(Notes(self._session, loop)):
            self._enter()
            try:
                await self._session.run()
            finally:
                self._leave()

    def _suspend(self) -> None:
        self._leave()
        suspend()
        self._enter()
        self._session.redraw()

    def _enter(self) -> None:
        # Whoever writes to stderr, a library of the app perhaps, would write across the screen.
        if os.isatty(2):
            self._stderr = os.dup(2)
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), 2)
        self._keyboard.enter()
        self._screen.enter()

    def _leave(self) -> None:
        self._screen.leave()
        self._keyboard.leave()
        if self._stderr is not None:
            os.dup2(self._stderr, 2)
            os.close(self._stderr)
            self._stderr = None


@contextmanager
def _noted(notes: logging.Handler) -> Iterator[None]:
    root = logging.getLogger()
    root.addHandler(notes)
    try:
        yield
    finally:
        root.removeHandler(notes)
