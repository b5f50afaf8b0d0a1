"""Notices writes to a file by any process, without looking: inotify, where there is one.

A process that wakes up two hundred times a second to look costs some percent of a core, most of
it for waking up. Elsewhere than on Linux there is no notice, and `watch` looks.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from typing import Final

IN_MODIFY: Final = 0x2
IN_NONBLOCK: Final = os.O_NONBLOCK
IN_CLOEXEC: Final = getattr(os, "O_CLOEXEC", 0)
MANY_EVENTS: Final = 64 * 1024


class Notice:
    """A file descriptor that can be read from after the file was written to."""

    def __init__(self, path: str) -> None:
        self.descriptor = -1
        self._path = os.fsencode(path)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self._libc.inotify_init1(IN_NONBLOCK | IN_CLOEXEC)
        if self.descriptor < 0:
            # A user may have a hundred or so; who has used them up does without.
            raise OSError(ctypes.get_errno(), "inotify_init1")

    def aim(self) -> bool:
        """Watch the file that has the name now, from now on; False if there is none."""
        self.clear()
        found: int = self._libc.inotify_add_watch(self.descriptor, self._path, IN_MODIFY)
        return found >= 0

    def clear(self) -> None:
        with suppress(BlockingIOError):
            os.read(self.descriptor, MANY_EVENTS)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def notice_of(path: str) -> Notice | None:
    """A notice of writes to a file, if this system gives any."""
    if sys.platform != "linux":
        return None
    with suppress(OSError, AttributeError):  # without one, the file is looked at from time to time
        return Notice(path)
    return None
