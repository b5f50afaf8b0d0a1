"""The one bridge from blocking code to async code.

`Portal` runs coroutines on a background event loop; `drive` runs one that never suspends
right here, which is a hundred times cheaper. Both survive `fork`: a child gets a loop of
its own, since threads do not cross over and a loop that was inherited would hang.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar, cast

from .errors import NoEventLoop, WouldBlock
from .interrupts import obey, present_call, uninterrupted
from .loops import LEAVING, OURS, Loop, at_end, drop, hang_up, is_idle, run_once_more

log = logging.getLogger("windlass")

T = TypeVar("T")

LONGEST_WAIT: Final = 0.1
"""Seconds after which a handler that waits learns that it is to stop."""


class PerProcess(Generic[T]):
    """A value that is made on first use, once per process.

    What a child inherits through `fork` is left alone, neither used nor closed: it still
    belongs to the parent.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._value: T | None = None
        self._inherited: list[T] = []

    def get(self) -> T:
        self._notice_fork()
        if self._value is None:
            with self._lock:
                if self._value is None:
                    self._value = self._make()
        return self._value

    def take(self) -> T | None:
        """The value, if one was made, which from now on is the caller's to close."""
        self._notice_fork()
        with self._lock:
            value, self._value = self._value, None
        return value

    def _notice_fork(self) -> None:
        if self._pid != os.getpid():
            # The lock may have been held by a thread that does not exist here.
            self._lock = threading.RLock()
            if self._value is not None:
                self._inherited.append(self._value)
            self._value = None
            self._pid = os.getpid()


class _LoopThread:
    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self.loop.run_forever, name="windlass-portal", daemon=True
        )
        self._thread.start()
        self.started: list[Future[None]] = []
        """what nobody waits for before the end"""

    def close(self) -> None:
        wait(self.started, LEAVING)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Portal:
    """Runs coroutines for callers that block, on one background event loop per process."""

    def __init__(self) -> None:
        self._thread = PerProcess(_LoopThread)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        loop = self._thread.get().loop
        return result_of(asyncio.run_coroutine_threadsafe(coroutine, loop))

    def start(self, act: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Have something done, without waiting for it."""
        thread = self._thread.get()
        thread.started = [each for each in thread.started if not each.done()]
        thread.started.append(asyncio.run_coroutine_threadsafe(act(), thread.loop))

    def close(self) -> None:
        thread = self._thread.take()
        if thread is not None:
            thread.close()


def result_of(future: Future[T]) -> T:
    """Wait for what another thread does; a handler that is to stop does not wait any longer."""
    limit = None if present_call() is None else LONGEST_WAIT
    try:
        while True:
            try:
                return future.result(limit)
            except TimeoutError:
                if future.done():
                    return future.result()
            obey()
    except BaseException:
        # Ctrl-C in the caller must not leave the work going on behind its back.
        future.cancel()
        raise


def drive(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never suspends, in this thread, without any event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    coroutine.close()
    raise RuntimeError("A coroutine that was to run without an event loop tried to wait.")


def refuse_in_loop(call: str, instead: str) -> None:
    """Raise `WouldBlock` if this thread runs an event loop, which a blocking call would stop."""
    if in_loop():
        raise WouldBlock(
            f"{call} would block the running event loop; use `await {instead}` in async code."
        )


def need_loop(call: str, instead: str) -> None:
    """Raise `NoEventLoop` if this thread runs no event loop."""
    if not in_loop():
        raise NoEventLoop(
            f"{call} needs a running event loop: await it in an `async def`; in blocking code call "
            f"{instead}."
        )


def in_loop() -> bool:
    """Whether this thread runs an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class Opened(Protocol):
    """Something with a connection behind it."""

    @property
    def blocking(self) -> bool:
        """Whether no method suspends, so that it can be driven without an event loop."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...


H = TypeVar("H", bound=Opened)


class Handles(Generic[H]):
    """Handles on one thing where they are needed: one per event loop, one for blocking code.

    That of an event loop is closed when `asyncio.run` or its like ends the loop; that of a loop
    which was closed without any of it, by the next call that notices. That of a loop which nobody
    runs or closes any more is closed when its thread runs another one; if it is run again after
    all, it gets another handle.
    """

    def __init__(
        self,
        make: Callable[[bool], H],
        *,
        keep: bool = False,
        ending: Callable[[Loop], Awaitable[None]] | None = None,
        closed: Callable[[Loop], None] | None = None,
    ) -> None:
        """`make` is told whether the handle is for code that blocks; with `keep` none is closed.

        `ending` comes before the handle of an event loop is closed; `closed` is told of a loop
        for which nothing can be done any more on it.
        """
        self._make = make
        self._keep = keep
        self._ending = ending
        self._closed = closed
        self._by_loop: dict[Loop, asyncio.Task[H]] = {}
        self._ends: dict[Loop, AsyncGenerator[None]] = {}
        self._threads: dict[Loop, threading.Thread] = {}
        """which runs each loop"""
        self._portal = Portal()
        self._blocking = PerProcess(self._open_blocking)

    async def open(self) -> H:
        """That of the running event loop, opened on first use."""
        loop = asyncio.get_running_loop()
        opening = self._by_loop.get(loop)
        if opening is None or _failed(opening):
            self.attend()
            opening = self._by_loop[loop] = asyncio.create_task(self._open(), name=OURS)
        return opening.result() if opening.done() else await asyncio.shield(opening)

    def attend(self) -> None:
        """Have what the running event loop has closed with it."""
        loop = asyncio.get_running_loop()
        if loop not in self._ends:
            self._leave_closed_loops()
            self._leave_idle_loops()
            self._ends[loop] = at_end(partial(self._end, loop))
            self._threads[loop] = threading.current_thread()

    def block(self, act: Callable[[H], Coroutine[Any, Any, T]], call: str, instead: str) -> T:
        """Run `act` for a caller without an event loop."""
        refuse_in_loop(call, instead)
        if self._ends:
            with uninterrupted:
                self._leave_closed_loops()
        return self.run(act)

    def run(self, act: Callable[[H], Coroutine[Any, Any, T]]) -> T:
        """The same where it is known that there is no event loop."""
        with uninterrupted:
            handle = self._blocking.get()
            return drive(act(handle)) if handle.blocking else self._portal.run(act(handle))

    async def aclose(self) -> None:
        """Close that of the running event loop."""
        end = self._ends.get(asyncio.get_running_loop())
        if end is not None:
            await end.aclose()

    def close(self) -> None:
        """Close that of blocking code."""
        self._leave_closed_loops()
        handle = self._blocking.take()
        if handle is not None and not self._keep:
            drive(handle.close()) if handle.blocking else self._portal.run(handle.close())
        self._portal.close()

    def let_go(self, loop: Loop) -> None:
        """Forget what was still being opened on an event loop that nobody runs any more."""
        opening = self._by_loop.get(loop)
        if opening is not None and not opening.done():
            drop(self._by_loop.pop(loop))

    async def _open(self) -> H:
        handle = self._make(False)
        await handle.open()
        return handle

    def _open_blocking(self) -> H:
        handle = self._make(True)
        drive(handle.open()) if handle.blocking else self._portal.run(handle.open())
        return handle

    async def _end(self, loop: Loop) -> None:
        if self._ending is not None:
            await self._ending(loop)
        self._ends.pop(loop, None)
        self._threads.pop(loop, None)
        opening = self._by_loop.pop(loop, None)
        if opening is not None and not _failed(opening) and not self._keep:
            await (await opening).close()

    def _leave_closed_loops(self) -> None:
        for loop in [loop for loop in list(self._ends) if loop.is_closed()]:
            if self._ends.pop(loop, None) is None:
                continue  # another thread was quicker
            self._threads.pop(loop, None)
            hang_up(loop)
            if self._closed is not None:
                self._closed(loop)
            opening = self._by_loop.pop(loop, None)
            if opening is None or _failed(opening):
                continue
            if not opening.done():
                drop(opening)
            elif not self._keep:
                self._portal.start(partial(_leave, opening.result()))

    def _leave_idle_loops(self) -> None:
        """Close what belongs to loops that were left as they are.

        A thread runs one loop at a time: while it waits here, it runs none of its others.
        """
        here = threading.current_thread()
        for loop, thread in list(self._threads.items()):
            end = self._ends.get(loop)
            if end is not None and (thread is here or not thread.is_alive()) and is_idle(loop):
                leaving = threading.Thread(target=run_once_more, args=[loop, end], daemon=True)
                leaving.start()
                leaving.join(LEAVING)


async def _leave(handle: Opened) -> None:
    """Close what belongs to an event loop that is closed, as far as another one can do that."""
    try:
        async with asyncio.timeout(LEAVING):
            await handle.close()
    except Exception as error:
        # Its sockets are closed already, and drivers cannot do more without their loop.
        log.debug("what a closed event loop has left was not closed: %s", error)


def _failed(opening: asyncio.Future[Any]) -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)


async def in_thread(work: Callable[[], T]) -> T:
    """What blocking code returns, which runs in a thread of its own.

    `asyncio.to_thread` has few threads, and handlers of users may hang in all of them.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(error: BaseException | None, value: T | None) -> None:
        if done.done():
            return  # nobody waits any more
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(cast("T", value))

    def run() -> None:
        value, raised = None, None
        try:
            value = work()
        except BaseException as error:
            raised = error
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(settle, raised, value)

    threading.Thread(target=run, name="windlass-blocking", daemon=True).start()
    return await done
