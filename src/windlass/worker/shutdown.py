"""Signals: the first asks for a graceful stop, the second ends the process at once.

Both hold while a handler blocks the event loop. Python tells a signal to the main thread alone,
between two of its steps, which a call into C may never come to; the system's own handler writes a
byte to a socket at once, and a thread reads it here. It cannot run, and nothing but SIGKILL ends
the process, while C code keeps the interpreter's lock (the GIL) to itself.
"""

from __future__ import annotations

import _thread
import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

log = logging.getLogger("windlass")

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)

LAST_WORD: Final = 1.0
"""Seconds that the log has for the last line of a process."""

STOPPING: Final = "stopping: running jobs may finish, a second signal ends at once"

STOPPED: Final = 0
LEFT: Final = 1
"""The exit code of a process that could not give back what it had."""


@contextmanager
def stop_on_signals(
    stop: Callable[[], None], noticed: Callable[[], None] | None = None
) -> Iterator[None]:
    """Call `stop` on SIGINT or SIGTERM; on a second one exit, and let leases recover the jobs.

    `stop` is called on the running event loop, `noticed` at once, whatever that loop does, in
    another thread.
    """
    signals = _Signals(stop, noticed)
    signals.hear()
    try:
        yield
    finally:
        signals.forget()


def hears_signals() -> bool:
    """Whether signals of this process come to `stop_on_signals` now."""
    return isinstance(getattr(signal.getsignal(signal.SIGINT), "__self__", None), _Signals)


class _Signals:
    def __init__(self, stop: Callable[[], None], noticed: Callable[[], None] | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = stop
        self._noticed = noticed
        self._begun = False
        self._read = self._written = 0
        self._bytes, self._wakeup = socket.socketpair()
        self._wakeup.setblocking(False)
        self._next = -1
        """the descriptor that was written to before: the event loop's own"""

    def hear(self) -> None:
        number = self._wakeup.fileno()
        self._next = signal.set_wakeup_fd(number, warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        threading.Thread(target=self._listen, name="windlass-signals", daemon=True).start()

    def forget(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        last = signal.set_wakeup_fd(self._next)
        if last != self._wakeup.fileno():
            # Somebody else has asked for it since.
            signal.set_wakeup_fd(last)
        self._wakeup.close()

    def _listen(self) -> None:
        with self._bytes:
            while numbers := self._bytes.recv(64):
                if self._next != -1:
                    with suppress(OSError):  # full, so that it will wake up anyway
                        os.write(self._next, numbers)
                for number in numbers:
                    self._read += number in SIGNALS
                    if self._read > 1:
                        os._exit(128 + number)
                if self._read or self._written:
                    self._begin()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        """In the main thread. Counts by itself: code that runs later may take the wakeup away.

        It may interrupt anything, and so takes no lock: the rest is the other thread's to do.
        """
        self._written += 1
        if self._written > 1:
            os._exit(128 + number)
        with suppress(OSError):  # full of what the thread is about to read
            self._wakeup.send(b"\0")

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            if self._noticed is not None:
                self._noticed()
            with suppress(RuntimeError):  # the loop is closed: it has stopped
                self._loop.call_soon_threadsafe(self._stop)


class Ending:
    """Sees to it that a process which was asked to stop ends, whatever holds up its event loop."""

    def __init__(self, seconds: float, last: Callable[[], bool]) -> None:
        """After so many seconds `last` gives back what the process has, and tells whether it
        could; then the process is ended."""
        self._seconds = seconds
        self._last = last
        self._begun = threading.Lock()
        self._over = threading.Event()
        self._told = threading.Event()

    def begin(self) -> None:
        """From now on there are so many seconds left. From any thread; the first call counts."""
        if self._begun.acquire(blocking=False):
            # Not by `threading`: what a handler has given to `threading.settrace` may raise there.
            _thread.start_new_thread(self._wait, ())

    def over(self) -> None:
        """The worker has stopped, and its process is somebody else's to end."""
        self._over.set()

    def _wait(self) -> None:
        if not self._over.wait(self._seconds):
            code = STOPPED if self._last() else LEFT
            # In a thread: what the log is written to may be stuck, or its lock taken for ever.
            _thread.start_new_thread(self._tell, ())
            self._told.wait(LAST_WORD)
            os._exit(code)

    def _tell(self) -> None:
        log.error("the worker did not stop within %g s; its process ends now", self._seconds)
        self._told.set()
