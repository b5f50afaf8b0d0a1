"""Child processes for handlers that compute, leak or crash; one job at a time in each.

A child is a new interpreter that imports the handler's module. It serves many jobs and ends
when its pipe does. A thread waits for each answer, and is woken by it or by the end of the
child, however that came.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any

from ...core.context import Context
from ...definition import Definition
from ...errors import AttemptParked, UnencodableValue
from ...observe.carrier import carried
from .child import REPLY, Begun, Grown, Keep, Order, Returned, Said, Wait
from .children import LAST_WORDS, ChildLimits, Children, Seat
from .echo import Logged, repeat
from .raised import Raised
from .spawned import Spawned
from .thread_call import ThreadCall
from .threads import Threads

Note = Begun | Grown | Said | Keep | Wait | Logged
"""What a child says before its answer."""


class ProcessDied(RuntimeError):
    """The child process of a handler ended before the handler did."""


class ChildNotReady(RuntimeError):
    """The child process of a handler was there, or was to be, and did not call it in time."""


class Processes:
    """At most `size` children, started as they are needed and used again."""

    def __init__(self, size: int, limits: ChildLimits) -> None:
        self._threads = Threads(size, "windlass-process")
        self._loop = asyncio.get_running_loop()
        self._children = Children(limits, self._threads)

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
            self._children.limits.memory > 0,
        )
        seat = Seat()
        # What the handler logs is handled in the thread that hears it, as the attempt's.
        within = copy_context().run

        def begin() -> None:
            if on_begin is not None and not call.stopped:
                on_begin()

        serve = partial(within, self._serve, pickle.dumps(order), seat, context, begin)
        call = self._threads.run(serve, seat.kill)
        call.name = definition.name
        self._children.watch()
        return call

    def take_back(self) -> int:
        """Have calls end for which no thread has looked for a child yet; how many those are."""
        return self._threads.take_back()

    def fault(self) -> str | None:
        """What to say if no thread is left that could begin a call; from any thread."""
        return self._threads.fault()

    def close(self) -> None:
        """Let idle children end. One that is busy is killed by cancelling what waits for it."""
        self._children.close()

    def _serve(self, order: bytes, seat: Seat, context: Context, begin: Callable[[], None]) -> Any:
        child = self._send(order, seat)
        try:
            answer = _answer_of(child, context, partial(self._tell, begin, seat))
        except (EOFError, OSError):
            seat.free()
            raise self._death(child, seat) from None
        finally:
            self._children.begun(seat)
        if seat.free():
            self._children.keep(child)
        else:
            child.end(0)
        if isinstance(answer, Raised):
            raise answer.rebuilt()
        return answer.value

    def _death(self, child: Spawned, seat: Seat) -> RuntimeError:
        how = child.end(LAST_WORDS)
        if seat.late:
            return ChildNotReady(
                f"the child process did not call the handler within "
                f"{self._children.limits.start:g} s: to import its module takes longer, or hangs"
            )
        return ProcessDied(f"the process of the handler {how}")

    def _tell(self, begin: Callable[[], None], seat: Seat) -> None:
        self._children.begun(seat)
        with suppress(RuntimeError):  # the loop is closed; nobody waits any more
            self._loop.call_soon_threadsafe(begin)

    def _send(self, order: bytes, seat: Seat) -> Spawned:
        """The child that has the order now. One that died while it was idle is replaced."""
        while (child := self._children.take()) is not None:
            try:
                seat.take(child)
                child.send(order)
            except OSError:
                seat.free()
                child.end(0)
            else:
                self._children.begin(seat)
                return child
        child = Spawned()
        self._children.begin(seat)
        try:
            seat.take(child)
            child.send(order)
        except OSError:
            self._children.begun(seat)
            seat.free()
            raise self._death(child, seat) from None
        return child


def _answer_of(child: Spawned, context: Context, begin: Callable[[], None]) -> Returned | Raised:
    """What the handler came to; what it says before goes where its context says."""
    while isinstance(answer := _opened(child.receive()), Note):
        # A thread that an earlier handler has left behind may speak as well.
        is_own = answer.lease == context.job.lease
        if isinstance(answer, Begun):
            begin()
        elif isinstance(answer, Grown):
            child.resident = answer.resident
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
        return Raised.of(error)


def _opened(record: bytes) -> Note | Returned | Raised:
    try:
        answer: Note | Returned | Raised = pickle.loads(record)
    except Exception as error:
        problem = UnencodableValue(
            f"The result of the handler cannot be read outside of its child process: {error}."
        )
        return Raised.of(problem)
    return answer
