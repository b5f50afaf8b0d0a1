"""Stopping a blocking handler by an exception, without ever doing so where it would do harm.

The exception (`AttemptStopped`) comes between any two steps of a thread. Code that would leave a
lock, a connection or a transaction behind runs `with uninterrupted:`; an exception that is due by
then is raised when the outermost of these blocks is left. Who sends it is in
`worker/executors/stopping.py`.

How the two sides agree, without a lock for those who are never stopped: the thread first counts
itself in and then looks whether it is `asked` to stop; the sender first asks and then looks at the
count. So one of them sees the other. Where both do, a lock decides. It is sent once for a call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from .errors import AttemptStopped


class Interruptible:
    """One call in a thread of its own, which may be stopped once."""

    asked = False
    """the call is to stop"""
    sent = False
    """the exception is on its way, or was raised"""
    met = False
    """the exception was raised for sure, whatever became of it"""
    depth = 0
    """how many blocks the thread is in that must not be interrupted"""
    thread: int | None = None
    """the thread, while the call runs"""
    unended: Sequence[Callable[[], object]] = ()
    """what is to be done when the call is over, since nobody else did it"""
    lock: threading.Lock
    """there once the call is asked; written in C, so that `with` it leaves nothing behind"""
    _due = False

    def ask(self) -> None:
        """Have the call stop at the next place where it may. By one thread alone."""
        if not self.asked:
            self.lock = threading.Lock()
            self.asked = True

    def begin(self) -> None:
        _here.call = self
        self.thread = threading.get_ident()

    def end(self) -> None:
        """No exception comes from now on; one that is on its way is raised here."""
        self.thread = None
        if self.asked:
            self._meet()
        _here.call = None

    def enter(self) -> None:
        depth = self.depth
        self.depth = depth + 1
        if self.asked and not depth:
            try:
                self._meet()
            except AttemptStopped:
                self.met = self._due = True

    def leave(self) -> None:
        depth = self.depth - 1
        self.depth = depth
        if self.asked and not depth:
            self.obey()

    def obey(self) -> None:
        """Raise what is due, from within: for a place where nothing would be left behind."""
        with self.lock:
            is_due = self._due or not self.sent
            if is_due:
                self.sent = self.met = True
                self._due = False
        if is_due:
            raise AttemptStopped

    def was_hit(self) -> bool:
        """Whether the exception was raised in the call's own code, asked `with uninterrupted:`."""
        return self.met and not self._due

    def _meet(self) -> None:
        """Have an exception that was sent raised here, if it was not raised before."""
        with self.lock:  # the sender is not between its look and its sending
            is_coming = self.sent and not self.met
        if is_coming:
            # Each takes the interpreter anew, which looks then for what was sent.
            time.sleep(0)
            time.sleep(0)
            self.met = True


class _Here(threading.local):
    call: Interruptible | None = None


_here: Final = _Here()


class _Uninterrupted:
    def __enter__(self) -> None:
        call = _here.call
        if call is not None:
            call.enter()

    def __exit__(self, *_: object) -> None:
        call = _here.call
        if call is not None:
            call.leave()


uninterrupted: Final = _Uninterrupted()
"""`with uninterrupted:` in the thread of a handler holds `AttemptStopped` back."""


def present_call() -> Interruptible | None:
    """The call that this thread is for; None in threads that are never stopped."""
    return _here.call


def obey() -> None:
    """Raise `AttemptStopped` here if it is due, though within `uninterrupted`: before a wait."""
    call = _here.call
    if call is not None and call.asked:
        call.obey()
