"""The one bridge from blocking code to async code.

`Portal` runs coroutines on a background event loop; `drive` runs one that never suspends
right here, which is a hundred times cheaper. Both survive `fork`: a child gets a loop of
its own, since threads do not cross over and a loop that was inherited would hang.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

from .errors import WouldBlock

T = TypeVar("T")


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

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class Portal:
    """Runs coroutines for callers that block, on one background event loop per process."""

    def __init__(self) -> None:
        self._thread = PerProcess(_LoopThread)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        loop = self._thread.get().loop
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
        try:
            return future.result()
        except BaseException:
            # Ctrl-C in the caller must not leave the work going on behind its back.
            future.cancel()
            raise

    def close(self) -> None:
        thread = self._thread.take()
        if thread is not None:
            thread.close()


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
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise WouldBlock(
        f"{call} would block the running event loop; use `await {instead}` in async code."
    )


class Opened(Protocol):
    """Something with a connection behind it."""

    @property
    def blocking(self) -> bool:
        """Whether no method suspends, so that it can be driven without an event loop."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...


H = TypeVar("H", bound=Opened)


class Handles(Generic[H]):
    """Handles on one thing where they are needed: one per event loop, one for blocking code."""

    def __init__(self, make: Callable[[bool], H]) -> None:
        """`make` is told whether the handle is for code that blocks."""
        self._make = make
        self._by_loop: dict[asyncio.AbstractEventLoop, asyncio.Future[H]] = {}
        self._portal = Portal()
        self._blocking = PerProcess(self._open_blocking)

    async def open(self) -> H:
        """That of the running event loop, opened on first use."""
        loop = asyncio.get_running_loop()
        opening = self._by_loop.get(loop)
        if opening is None or _failed(opening):
            for closed in [each for each in self._by_loop if each.is_closed()]:
                del self._by_loop[closed]
            opening = self._by_loop[loop] = asyncio.ensure_future(self._open())
        return await asyncio.shield(opening)

    def block(self, act: Callable[[H], Coroutine[Any, Any, T]], call: str, instead: str) -> T:
        """Run `act` for a caller without an event loop."""
        refuse_in_loop(call, instead)
        handle = self._blocking.get()
        return drive(act(handle)) if handle.blocking else self._portal.run(act(handle))

    async def aclose(self) -> None:
        opening = self._by_loop.pop(asyncio.get_running_loop(), None)
        if opening is not None and not _failed(opening):
            await (await opening).close()

    def close(self) -> None:
        handle = self._blocking.take()
        if handle is not None:
            drive(handle.close()) if handle.blocking else self._portal.run(handle.close())
        self._portal.close()

    async def _open(self) -> H:
        handle = self._make(False)
        await handle.open()
        return handle

    def _open_blocking(self) -> H:
        handle = self._make(True)
        drive(handle.open()) if handle.blocking else self._portal.run(handle.open())
        return handle


def _failed(opening: asyncio.Future[Any]) -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)
