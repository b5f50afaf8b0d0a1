"""One blocking call in a thread, the future that it ends in, and how it is stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from ...errors import AttemptStopped
from ...interrupts import Interruptible
from ..copies import calls_handlers
from .presentable import presentable
from .stopping import stop

log = logging.getLogger("windlass")

GRACE: Final = 0.5
"""How many seconds a call has to end once it was stopped; then it is left to itself."""

FIRST_TRY: Final = 0.002
SLOWEST_TRY: Final = 0.1
"""Seconds between two tries to interrupt a call that is where it must not be interrupted."""

NOTHING: Final = object()


class NotBegun(BaseException):
    """The call was taken back before a thread had begun it.

    No `Exception`: what goes around a handler is not to take it for an error of the handler.
    """


class ThreadCall(asyncio.Future[Any]):
    """A call on its way through a thread.

    To cancel it is to stop the call: the future is done only when the call has ended, or
    will not end. What a stopped call returns all the same counts; what it raises does not.
    """

    left = False
    """the call was stopped, did not end, and is not waited for any more"""
    stopped = False
    name = ""
    """whose call it is, for people"""
    _begun = False
    _answer: Any = NOTHING
    _error: BaseException | None = None
    _timer: asyncio.TimerHandle | None = None
    _trial: asyncio.TimerHandle | None = None

    def __init__(
        self,
        call: Callable[[], Any],
        loop: asyncio.AbstractEventLoop,
        stop: Callable[[], None] | None,
        leave: Callable[[ThreadCall], None],
        on_begin: Callable[[], None] | None,
        tell: Callable[[ThreadCall], None],
    ) -> None:
        super().__init__(loop=loop)
        self._call = call
        self._stop = stop
        self._leave = leave
        self._on_begin = on_begin
        self._tell = tell
        self._target = Interruptible()

    # -- in the thread -------------------------------------------------------------------

    def perform(self) -> None:
        """Make the call. An exception that was sent to stop it never gets out of here."""
        try:
            self._perform()
            self._target.end()
        except AttemptStopped:
            # It came when the call was over. It is sent only once.
            self._target.end()
        except BaseException as error:
            # Of a trace function that the handler has set. The slot is not to be lost with it.
            self._error = error if self._error is None else self._error
            self._target.end()
        for unended in reversed(self._target.unended):
            self._end(unended)

    def _perform(self) -> None:
        try:
            # First these, then a look at `stopped`; `cancel` does it the other way round.
            self._begun = True
            if self._on_begin is not None and not self.stopped:
                self._tell(self)
            if self._stop is None:
                self._target.begin()
            if not self.stopped:
                self._answer = self._call()
        except BaseException as error:
            error = presentable(error)
            # Without this frame, or error and call would keep each other alive.
            trace = error.__traceback__ and error.__traceback__.tb_next
            self._error = BaseException.with_traceback(error, trace)

    def _end(self, unended: Callable[[], object]) -> None:
        """See to what the handler would have ended, had it not been stopped just before."""
        try:
            unended()
        except Exception:
            log.exception("what a stopped handler has left could not be ended")

    # -- on the event loop ---------------------------------------------------------------

    def cancel(self, msg: Any | None = None) -> bool:
        if self.done():
            return False
        if self.stopped:
            return self._let_be()
        self.stopped = True
        if not self._begun:
            return super().cancel(msg)
        (self._stop or self._interrupt)()
        self._timer = self.get_loop().call_later(GRACE, self._let_be)
        return True

    def begin(self) -> None:
        """Tell whoever wants to know that the thread is at it; once."""
        on_begin, self._on_begin = self._on_begin, None
        if on_begin is not None and not self.stopped:
            on_begin()

    def take_back(self) -> None:
        """End a call that no thread will begin."""
        if not self.done():
            self.set_exception(NotBegun())

    def settle(self) -> None:
        """Be done, now that the thread is."""
        for timer in (self._timer, self._trial):
            if timer is not None:
                timer.cancel()
        if self.done():
            return
        error = self._error
        if self._answer is not NOTHING:
            self.set_result(self._answer)
        elif self.stopped or error is None:
            super().cancel()
        elif issubclass(type(error), (StopIteration, GeneratorExit)):  # not by its `__class__`
            # A future cannot carry them: they would end the coroutine that awaits it.
            self.set_exception(RuntimeError(f"the handler raised {type(error).__name__}: {error}"))
        else:
            self.set_exception(error)

    def _interrupt(self, pause: float = FIRST_TRY) -> None:
        """Raise `AttemptStopped` in the thread, in this call alone, where it does no harm there."""
        if not stop(self._target, _MAKES_THE_CALL):
            again = min(2 * pause, SLOWEST_TRY)
            self._trial = self.get_loop().call_later(pause, self._interrupt, again)

    def _let_be(self) -> bool:
        if self.done():
            return False
        self.left = True
        self._leave(self)
        return super().cancel()


_MAKES_THE_CALL: Final = ThreadCall._perform.__code__

calls_handlers(ThreadCall._perform)
