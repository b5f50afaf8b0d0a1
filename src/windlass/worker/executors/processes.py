"""Child processes for handlers that compute, leak or crash; one job at a time in each.

A child is a new interpreter that imports the handler's module. It serves many jobs and ends
when its pipe does. A thread waits for each answer, and is woken by it or by the end of the
child, however that came.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any, Final

from ...core.context import Context
from ...core.outcome import failure_of
from ...definition import Definition
from ...errors import AttemptParked, UnencodableValue
from ...observe.carrier import carried
from .child import REPLY, Begun, Keep, Order, Returned, Said, Wait
from .echo import Logged, repeat
from .raised import Raised
from .spawned import Spawned
from .thread_call import ThreadCall
from .threads import Threads

LAST_WORDS: Final = 2.0
"""How many seconds a child that is not needed any more has to end by itself."""


class ProcessDied(RuntimeError):
    """The child process of a handler ended before the handler did."""


class Processes:
    """At most `size` children, started as they are needed and used again."""

    def __init__(self, size: int) -> None:
        self._threads = Threads(size, "windlass-process")
        self._loop = asyncio.get_running_loop()
        self._idle: list[Spawned] = []
        self._closed = False

    def run(
        self,
        definition: Definition,
        context: Context,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        on_begin: Callable[[], None] | None = None,
    ) -> ThreadCall:
        """The handler, called in a child. Stopping it kills the child.

        `on_begin` is called on the event loop when the child is there and calls the handler.
        """
        func, takes_context = definition.func, definition.arguments.takes_context
        try:
            arguments = pickle.dumps((list(args), kwargs))
        except Exception as error:
            raise UnencodableValue(
                f"The arguments of {definition.name} cannot go to its child process: {error}."
            ) from None
        order = Order(
            func.__module__,
            func.__qualname__,
            context.job,
            takes_context,
            arguments,
            None if context.job.checkpoint is None else pickle.dumps(context.state),
            logging.getLogger().getEffectiveLevel(),
            carried(),
        )
        seat = _Seat()
        # What the handler logs is handled in the thread that hears it, as the attempt's.
        within = copy_context().run

        def begin() -> None:
            if on_begin is not None and not call.stopped:
                on_begin()

        serve = partial(within, self._serve, pickle.dumps(order), seat, context, begin)
        call = self._threads.run(serve, seat.kill)
        return call

    def close(self) -> None:
        """Let idle children end. One that is busy is killed by cancelling what waits for it."""
        self._closed = True
        # Not a daemon: the interpreter waits for it, so that children can end in good order.
        threading.Thread(target=self._retire, name="windlass-retire").start()

    def _retire(self) -> None:
        idle = []
        while (child := self._take_idle()) is not None:
            child.hang_up()
            idle.append(child)
        for child in idle:
            child.end(LAST_WORDS)
        # Last, because the system kills a child when the thread that started it ends.
        self._threads.close()

    def _serve(self, order: bytes, seat: _Seat, context: Context, begin: Callable[[], None]) -> Any:
        child = self._send(order, seat)
        try:
            answer = _answer_of(child, context, partial(self._tell, begin))
        except (EOFError, OSError):
            seat.free()
            raise ProcessDied(f"the process of the handler {child.end(LAST_WORDS)}") from None
        if seat.free():
            self._idle.append(child)
            if self._closed:
                self._retire()
        else:
            child.end(0)
        if isinstance(answer, Raised):
            raise answer.rebuilt()
        return answer.value

    def _tell(self, begin: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed; nobody waits any more
            self._loop.call_soon_threadsafe(begin)

    def _send(self, order: bytes, seat: _Seat) -> Spawned:
        """The child that has the order now. One that died while it was idle is replaced."""
        while (child := self._take_idle()) is not None:
            try:
                seat.take(child)
                child.send(order)
            except OSError:
                seat.free()
                child.end(0)
            else:
                return child
        child = Spawned()
        try:
            seat.take(child)
            child.send(order)
        except OSError:
            seat.free()
            raise ProcessDied(f"the new process {child.end(LAST_WORDS)}") from None
        return child

    def _take_idle(self) -> Spawned | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None


def _answer_of(child: Spawned, context: Context, begin: Callable[[], None]) -> Returned | Raised:
    """What the handler came to; what it says before goes where its context says."""
    while isinstance(answer := _opened(child.receive()), Begun | Said | Keep | Wait | Logged):
        # A thread that an earlier handler has left behind may speak as well.
        is_own = answer.lease == context.job.lease
        if isinstance(answer, Begun):
            begin()
        elif isinstance(answer, Logged):
            if is_own:
                repeat(answer)
        elif isinstance(answer, Keep | Wait):
            reply = _replied(answer, context) if is_own else Returned(None)
            child.send(REPLY + pickle.dumps(reply))
        elif context.report is not None and is_own:
            context.report(answer.lease, answer.progress)
    return answer


def _replied(question: Keep | Wait, context: Context) -> Returned | Raised:
    """Do what the handler asks for; what it is to get, or to raise."""
    try:
        match question:
            case Keep(_, value):
                context.checkpoint(pickle.loads(value))
                return Returned(None)
            case Wait(_, name, timeout):
                return Returned(context.wait_for(name, timeout))
    except (Exception, AttemptParked) as error:
        return Raised.of(error, failure_of(error))


def _opened(record: bytes) -> Begun | Said | Keep | Wait | Logged | Returned | Raised:
    try:
        answer: Begun | Said | Keep | Wait | Logged | Returned | Raised = pickle.loads(record)
    except Exception as error:
        problem = UnencodableValue(
            f"The result of the handler cannot be read outside of its child process: {error}."
        )
        return Raised.of(problem, failure_of(problem))
    return answer


class _Seat:
    """The child that a call has now. It is killed only while it is that call's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Spawned | None = None
        self._killed = False

    def take(self, child: Spawned) -> None:
        """A call that was stopped before this kills it here, and finds out when it uses it."""
        with self._lock:
            self._child = child
            if self._killed:
                child.kill()

    def free(self) -> bool:
        """Let go of the child; whether another call can have it."""
        with self._lock:
            self._child = None
            return not self._killed

    def kill(self) -> None:
        with self._lock:
            self._killed = True
            if self._child is not None:
                self._child.kill()
