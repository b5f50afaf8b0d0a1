"""The end of a worker's process, whatever its handlers have left behind.

An interpreter waits at its end for tasks, for threads that are no daemons and for those of
`asyncio.to_thread`. A handler may have started one that never ends.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from contextlib import suppress
from typing import Final

log = logging.getLogger("windlass")

PATIENCE: Final = 2.0
"""How many seconds all of that has, once the worker itself has stopped."""


def leave_soon() -> None:
    """End this process a little later, if it does not end by itself."""
    timer = threading.Timer(PATIENCE, _leave)
    timer.daemon = True
    timer.start()


def _leave() -> None:
    log.warning(
        "the process ends without waiting any longer for what handlers have started: %s",
        ", ".join(_left()) or "tasks of the event loop",
    )
    for file in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # it is closed, or nobody reads it any more
            file.flush()
    os._exit(0)


def _left() -> list[str]:
    """The threads that keep the process from ending."""
    main = threading.main_thread()
    return [each.name for each in threading.enumerate() if not each.daemon and each is not main]
