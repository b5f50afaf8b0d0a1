"""The child's side of `process=True`: what goes over the pipe, and the loop that answers it.

The main thread runs handlers, so that they find signals and the like as in any program. A
second thread listens: the end of the pipe is the end of the worker, and then of this process,
whatever the handler is doing.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextvars import copy_context
from datetime import timedelta
from functools import cache
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.spawn import prepare
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, NoReturn

from ...core.context import Context, current
from ...core.model import Job, Lease, Progress
from ...errors import UnencodableValue, UsageError
from ...observe.carrier import take_over
from ..copies import calls_handlers
from ..memory import resident
from .awaited import call_to_its_end
from .echo import Echo
from .raised import Raised

LAST_WORDS: Final = 5.0
"""How many seconds an idle child has for its exit; what it has started may never end."""

_PR_SET_PDEATHSIG: Final = 1


class Order(NamedTuple):
    """A handler to call, and for which job. `arguments` are pickled by themselves, so that
    the module is there when they are read."""

    module: str
    path: str
    job: Job
    takes_context: bool
    arguments: bytes
    state: bytes | None = None
    """what the last attempt left, pickled by itself as well"""
    level: int = logging.WARNING
    """the least that the worker wants to know of what is logged"""
    carrier: Mapping[str, str] | None = None
    """the span that the handler runs in"""
    weighs: bool = False
    """the worker wants to know how much memory the child has afterwards"""


class Begun(NamedTuple):
    """The handler's module is there, and it is called now."""

    lease: Lease


class Grown(NamedTuple):
    """How much memory the child has, in bytes, now that the handler is done."""

    lease: Lease
    resident: int


class Returned(NamedTuple):
    """What the handler returned."""

    value: Any


class Said(NamedTuple):
    """What a handler says of its progress before its end."""

    lease: Lease
    progress: Progress


class Keep(NamedTuple):
    """What a handler wants to be kept for its next attempt, pickled. It waits for a reply."""

    lease: Lease
    value: bytes


class Wait(NamedTuple):
    """The signal that a handler waits for. It waits for a reply, which comes at once."""

    lease: Lease
    name: str
    timeout: float | timedelta | None


REPLY: Final = b"\0"
"""How the answer to a `Keep` or a `Wait` begins; no pickled order does."""


class Greeting(NamedTuple):
    """What the child has to know of the worker; `main` is how to import its main module."""

    argv: list[str]
    main: Mapping[str, str]


def main(number: int) -> None:
    """Answer orders from the pipe of this number, one after the other, until it ends."""
    _end_with_parent()
    for each in (signal.SIGINT, signal.SIGTERM):
        # For the worker to decide. Not SIG_IGN: programs that a handler starts would inherit it.
        signal.signal(each, lambda *_: None)
    pipe: Connection[Any, Any] = Connection(number)
    try:
        greeting: Greeting = pipe.recv()
        sys.argv[:] = greeting.argv
        orders, mouth = _Orders(pipe), _Mouth(pipe)
        echo = Echo(mouth.send)
        while (order := orders.next()) is not None:
            mouth.send(_answer(order, greeting.main, mouth, orders.replies, echo))
    except (EOFError, OSError):
        return  # the worker is gone


class _Orders:
    """What came over the pipe and was not taken yet."""

    def __init__(self, pipe: Connection[Any, Any]) -> None:
        self._pipe = pipe
        self._waiting: SimpleQueue[bytes | None] = SimpleQueue()
        self.replies: SimpleQueue[bytes] = SimpleQueue()
        self._busy = False
        threading.Thread(target=self._listen, name="windlass-listener", daemon=True).start()

    def next(self) -> bytes | None:
        self._busy = False
        order = self._waiting.get()
        self._busy = order is not None
        return order

    def _listen(self) -> None:
        try:
            while True:
                record = self._pipe.recv_bytes()
                if record.startswith(REPLY):
                    self.replies.put(record.removeprefix(REPLY))
                else:
                    self._waiting.put(record)
        except (EOFError, OSError):
            if self._busy:
                os._exit(1)
            self._waiting.put(None)
            time.sleep(LAST_WORDS)
            os._exit(0)


class _Mouth:
    """The way out. A handler may speak from threads of its own."""

    def __init__(self, pipe: Connection[Any, Any]) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()

    def say(self, lease: Lease, progress: Progress) -> None:
        self.send(pickle.dumps(Said(lease, progress)))

    def send(self, record: bytes) -> None:
        with self._lock:
            self._pipe.send_bytes(record)


class _Desk:
    """Asks the worker, which has the store, on behalf of the handler; one thing at a time."""

    def __init__(self, mouth: _Mouth, replies: SimpleQueue[bytes]) -> None:
        self._mouth = mouth
        self._replies = replies
        self._lock = threading.Lock()

    def ask(self, question: Keep | Wait) -> Any:
        with self._lock:
            self._mouth.send(pickle.dumps(question))
            answer: Returned | Raised = pickle.loads(self._replies.get())
        if isinstance(answer, Raised):
            raise answer.rebuilt()
        return answer.value


class _ChildSignals:
    """Signals by way of the worker."""

    def __init__(self, desk: _Desk) -> None:
        self._desk = desk

    def take(self, job: Job, name: str, timeout: float | timedelta | None) -> Any:
        return self._desk.ask(Wait(job.lease, name, timeout))

    async def atake(self, job: Job, name: str, timeout: float | timedelta | None) -> Any:
        raise UsageError("context.await_for(…) is not for process=True; use context.wait_for(…).")


class _ChildCheckpoints:
    """Checkpoints by way of the worker."""

    def __init__(self, state: bytes | None, desk: _Desk) -> None:
        self._state = state
        self._desk = desk

    def state(self, job: Job) -> Any:
        return None if self._state is None else pickle.loads(self._state)

    def keep(self, job: Job, value: Any) -> None:
        try:
            pickled = pickle.dumps(value)
        except Exception as error:
            raise UnencodableValue(
                f"A checkpoint of {job.task} cannot leave its child process: {error}."
            ) from None
        self._desk.ask(Keep(job.lease, pickled))

    async def akeep(self, job: Job, value: Any) -> None:
        raise UsageError(
            "context.acheckpoint(…) is not for process=True; use context.checkpoint(…)."
        )


def _answer(
    record: bytes,
    main: Mapping[str, str],
    mouth: _Mouth,
    replies: SimpleQueue[bytes],
    echo: Echo,
) -> bytes:
    try:
        order: Order = pickle.loads(record)
        if order.module == "__main__":
            _import_main_once(tuple(main.items()))
        func = _found(order.module, order.path)
        echo.listen(order.job.lease, order.level)
        args, kwargs = pickle.loads(order.arguments)
        desk = _Desk(mouth, replies)
        checkpoints, signals = _ChildCheckpoints(order.state, desk), _ChildSignals(desk)
        context = Context(order.job, mouth.say, _no_transaction, checkpoints, signals=signals)
        if order.takes_context:
            args = [context, *args]
        variables = copy_context()
        variables.run(current.set, context)
        if order.carrier is not None:
            variables.run(take_over, order.carrier)
        mouth.send(pickle.dumps(Begun(order.job.lease)))
        try:
            value = variables.run(call_to_its_end, func, *args, **kwargs)
        finally:
            if order.weighs:
                mouth.send(pickle.dumps(Grown(order.job.lease, resident())))
        try:
            return pickle.dumps(Returned(value))
        except Exception as error:
            raise UnencodableValue(
                f"The result of {order.path} cannot leave its child process: {error}."
            ) from None
    except BaseException as error:
        return pickle.dumps(Raised.of(error))


calls_handlers(_answer)


def _no_transaction(job: Job) -> NoReturn:
    raise UsageError(
        "context.transaction() is not for process=True: the child process has no connection to "
        "the store."
    )


@cache
def _found(module: str, path: str) -> Any:
    """The function of a task by its name; where the decorator was used, that is a `Task`."""
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"The child process cannot find {module}.{path}, which process=True needs at the top "
            f"of a module: {error}."
        ) from error
    from ...task import Task

    return found.definition.func if isinstance(found, Task) else found


_importing_main = False


def is_importing_main() -> bool:
    """Whether this is a child that is running the main module of its worker once more."""
    return _importing_main


@cache
def _import_main_once(main: tuple[tuple[str, str], ...]) -> None:
    global _importing_main
    _importing_main = True
    try:
        prepare(dict(main))
    finally:
        _importing_main = False


def _end_with_parent() -> None:
    """Have the system kill this process when the worker is gone, even if the handler is deep in
    C code and the listener cannot run."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
