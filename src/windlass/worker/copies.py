"""Ends copies of a worker that a handler has made by `os.fork()`, once they leave that handler.

Such a copy would go on as the worker does: run the jobs that wait here a second time, and read from
connections that both have now. What it does within the handler is its own affair.
"""

from __future__ import annotations

import os
import sys
from asyncio import events, runners
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

NOTICE: Final = b"windlass: a copy of this process, made by os.fork() in a handler, ends here\n"

ENDED: Final = 1
"""The exit code of such a copy."""

_callers: Final[set[CodeType]] = {
    events.Handle._run.__code__,
    runners.Runner.run.__code__,
}
"""What calls handlers, or what they have started on an event loop."""

_ENDS_BY_ITSELF: Final = "multiprocessing.popen_fork"


def calls_handlers(func: Callable[..., Any]) -> None:
    """Have copies end when they are about to come back to this function."""
    _callers.add(func.__code__)


def _watch() -> None:
    """In the copy: find what was called by the worker, and wait for its end."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_back is not None:
        if frame.f_globals.get("__name__") == _ENDS_BY_ITSELF:
            return
        if frame.f_back.f_code in _callers:
            # The thread's own way to tell of a return: it costs a process without copies nothing.
            sys.setprofile(_ending_after(frame))
            return
        frame = frame.f_back


def _ending_after(border: FrameType) -> Callable[[FrameType, str, Any], None]:
    def end(frame: FrameType, event: str, _: Any) -> None:
        if frame is border and event == "return":
            try:
                os.write(2, NOTICE)
            finally:
                os._exit(ENDED)

    return end


os.register_at_fork(after_in_child=_watch)
