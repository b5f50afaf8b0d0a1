"""Sends the exception that stops a blocking handler, when it does no harm where the thread is.

`interrupts` keeps it out of what the library does. What remains is code that cannot say so: that
of `logging`, whose handlers take a lock outside of any `try` before Python 3.13, and of others that
have locks of their own. So the thread's stack is looked at before the exception is sent.
"""

from __future__ import annotations

import ctypes
import dis
import gc
import sys
import threading
from collections.abc import Callable
from functools import cache
from itertools import starmap
from types import CodeType, FrameType
from typing import Final

from ...errors import AttemptStopped
from ...interrupts import Interruptible

LOCKING: Final = frozenset(
    {"logging", "threading", "queue", "concurrent", "_weakrefset"}
    | {"importlib", "_frozen_importlib", "_frozen_importlib_external"}
)
"""Packages that take locks, or leave something half done, where an exception finds no `finally`."""

LIBRARY: Final = __name__.partition(".")[0]

_STOPPED: Final = ctypes.py_object(AttemptStopped)
_set_async_exc: Final = ctypes.pythonapi.PyThreadState_SetAsyncExc
_no_arguments: Final[tuple[tuple[()], ...]] = ((),)


def stop(call: Interruptible, root: CodeType) -> bool:
    """Ask a call to stop, and interrupt it if that is safe now; False if it is to be tried again.

    `root` is the code that makes the call. Not for the thread of the call itself.
    """
    call.ask()
    with call.lock:
        thread = call.thread
        if thread is None or call.sent:
            return True
        if call.depth:
            return False
        frame = sys._current_frames()[thread]
        step = frame.f_lasti
        if not _is_safe(frame, root):
            return False
        number = ctypes.c_ulong(thread)
        look = starmap(sys._current_frames, _no_arguments)
        if sys.version_info < (3, 12):
            gc.collect(0)  # it would come while the frames are made, and let other threads run
        # From here on the interpreter has no reason to let the other thread run until the exception
        # is sent: it does so between steps that call or loop, and there is no such step. That is
        # why the frames come out of an iterator. A frame that is still the innermost one still has
        # the same callers, and one that is at the same step is where it was found to be safe.
        (frames,) = look
        if frames[thread] is frame and frame.f_lasti == step and not call.depth:
            call.sent = True
            _set_async_exc(number, _STOPPED)
            return True
    return False


def _is_safe(innermost: FrameType, root: CodeType) -> bool:
    """Whether no code on the stack of a handler would leave something behind."""
    if innermost.f_code is root:
        return False
    waits = _is_waiting(innermost)
    modules: list[str] = []
    frame: FrameType | None = innermost
    while frame is not None and frame.f_code is not root:
        if frame.f_code.co_name == "__del__":
            return False  # the interpreter would print it and go on
        if frame.f_code is not _called_directly():
            modules.append(frame.f_globals.get("__name__") or "")
        frame = frame.f_back
    # A handler may be anybody's; the library has some too.
    own = modules[-1] if modules else ""
    if modules and modules[0] != own and not waits and _is_acquiring(innermost):
        return False
    for module in modules:
        package = module.partition(".")[0]
        if module != own and (package == LIBRARY or (package in LOCKING and not waits)):
            return False
    return frame is not None


def _is_acquiring(frame: FrameType) -> bool:
    """Whether a thread gets a lock by a call, as code does that has its `try` on the next line.

    `http.cookiejar` is of that kind: its lock would stay behind, and with it a session that all
    handlers share. After `with` there is no step at which the exception could come too early.
    """
    code, line = frame.f_code, frame.f_lineno
    if "acquire" not in (*code.co_names, *code.co_varnames, *code.co_freevars):
        return False
    return any(
        step.argval == "acquire" and step.positions is not None and step.positions.lineno == line
        for step in dis.get_instructions(code)
    )


def _is_waiting(frame: FrameType) -> bool:
    """Whether a thread is within the wait of a condition, event or queue, where a `finally` is.

    It may be there for as long as the handler runs.
    """
    wait = threading.Condition.wait
    return (
        frame.f_code is wait.__code__
        and "gotit" in frame.f_locals
        and frame.f_lineno < _end_of_wait(wait)
    )


@cache
def _end_of_wait(wait: Callable[..., bool]) -> int:
    """The line of `Condition.wait` at which its `finally` begins."""
    for step in dis.get_instructions(wait):
        if step.argval == "_acquire_restore" and step.positions is not None:
            return step.positions.lineno or 0
    return 0


@cache
def _called_directly() -> CodeType:
    """The code of a task that a handler calls as a plain function: all it does is call on."""
    from ...task import Task

    return Task.__call__.__code__
