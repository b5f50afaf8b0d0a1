"""Threads for blocking handlers: how work gets to them and how its end gets back.

At tens of thousands of short jobs a second, waking a thread costs more than the job. So a
burst of jobs wakes one thread; that one wakes a second if there is more than it took, and so
on; and a burst of results wakes the event loop once.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from .counted import counted
from .thread_call import ThreadCall

log = logging.getLogger("windlass")

LEAST_SPARE: Final = 10
"""So many threads that will not end are replaced, or `size` of them if that is more."""


class Threads:
    """Runs functions in daemon threads, made as they are needed, about `size` at most.

    Not `concurrent.futures`: the interpreter would wait for its threads at exit, and a
    handler that never returns must not be able to hold up a shutdown.
    """

    def __init__(self, size: int, name: str = "windlass-handler") -> None:
        self._size = size
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._todo: deque[ThreadCall] = deque()
        self._begun: deque[ThreadCall] = deque()
        """calls of which somebody wants to know when they begin"""
        self._done: deque[ThreadCall] = deque()
        self._told = False
        """the loop will look at `_begun` and `_done`"""
        self._lock = threading.Lock()
        self._sleeping: list[threading.Lock] = []
        """a lock for each idle thread, which waits to get it; the last one to sleep wakes first"""
        self._searching = False
        """a thread is awake and has no work yet, so that none need be woken for new work"""
        self._count = 0
        self._made = 0
        self._stuck: set[ThreadCall] = set()
        """calls that were stopped and did not end; each keeps its thread"""
        self._closed = False

    def run(
        self,
        call: Callable[[], Any],
        stop: Callable[[], None] | None = None,
        on_begin: Callable[[], None] | None = None,
    ) -> ThreadCall:
        """The call, under way; `stop` is how to stop it, if not by an exception in its thread.

        `on_begin` is called on the event loop when a thread has taken the call, once; never for
        one that was stopped before.
        """
        run = ThreadCall(call, self._loop, stop, self._leave, on_begin, self._tell_begun)
        self._todo.append(run)
        if not self._searching:
            try:
                self._wake()
            except RuntimeError:
                self._todo.remove(run)
                raise
        return run

    def take_back(self) -> int:
        """Have calls that no thread has begun end with `NotBegun`; how many those are."""
        number = 0
        while self._todo:
            try:
                run = self._todo.popleft()
            except IndexError:
                break  # a thread has taken it in this very moment
            number += not run.done()
            run.take_back()
        return number

    def fault(self) -> str | None:
        """What to say if no thread is left that could begin a call; from any thread."""
        if len(self._stuck) < self._size + max(self._size, LEAST_SPARE):
            return None
        stuck = [run.name for run in list(self._stuck)]
        return (
            f"No thread is left for blocking handlers: {len(stuck):,} were stopped and do not "
            f"end, of {counted(stuck)}."
        )

    def close(self) -> None:
        """Let idle threads end; one that is still in a handler ends after it, or with the process.

        The threads are not waited for.
        """
        with self._lock:
            self._closed = True
            for bed in self._sleeping:
                bed.release()
            self._sleeping.clear()

    def _most(self) -> int:
        """How many threads there may be: those that will not end are replaced, up to a bound."""
        return self._size + min(len(self._stuck), max(self._size, LEAST_SPARE))

    def _wake(self) -> None:
        """Have one more thread look for work, unless there is one that does."""
        with self._lock:
            if self._searching:
                return
            if self._sleeping:
                self._searching = True
                self._sleeping.pop().release()
                return
            if self._count >= self._most():
                return
            self._searching = True
            self._count += 1
            self._made += 1
            name = f"{self._name}-{self._made}"
        try:
            threading.Thread(target=self._serve, name=name, daemon=True).start()
        except RuntimeError as error:
            # The system gives no more of them. Those that are there will do the work in time.
            log.warning("no new thread for handlers: %s", error)
            with self._lock:
                self._searching = False
                self._count -= 1
            if self._count == 0:
                raise

    def _serve(self) -> None:
        bed = threading.Lock()
        bed.acquire()
        searching = True
        while True:
            try:
                run = self._todo.popleft()
            except IndexError:
                if not self._lie_down(bed, searching):
                    return
                searching = True
                continue
            if searching:
                searching = self._searching = False
                if self._todo:
                    self._wake()
            run.perform()
            self._done.append(run)
            self._wake_loop()
            del run

    def _tell_begun(self, run: ThreadCall) -> None:
        self._begun.append(run)
        self._wake_loop()

    def _wake_loop(self) -> None:
        # Only now: the loop empties `_begun` and `_done` after it has taken this mark back.
        if not self._told:
            self._told = True
            with suppress(RuntimeError):  # the loop is closed; nobody waits any more
                self._loop.call_soon_threadsafe(self._settle)

    def _lie_down(self, bed: threading.Lock, searching: bool) -> bool:
        """Sleep until there may be work; False is the end of the thread."""
        with self._lock:
            # First this, then a look at the work: whoever adds some does it the other way
            # round, so that one of the two sees the other.
            if searching:
                self._searching = False
            if self._todo:
                self._searching = True
                return True
            if self._closed or self._count > self._most():
                self._count -= 1
                return False
            self._sleeping.append(bed)
        bed.acquire()
        return True

    def _settle(self) -> None:
        self._told = False
        while self._begun:
            self._begun.popleft().begin()
        while self._done:
            run = self._done.popleft()
            # It may have begun and ended since the loop above.
            run.begin()
            if run.left:
                self._return(run)
            run.settle()

    def _leave(self, run: ThreadCall) -> None:
        """A call does not end: have another thread do what this one cannot."""
        self._stuck.add(run)
        log.warning(
            "the handler of %s was stopped and does not end; it keeps its thread (%d such)",
            run.name,
            len(self._stuck),
        )
        if self._todo:
            self._wake()

    def _return(self, run: ThreadCall) -> None:
        """A call that was left to itself has ended after all: its replacement can go."""
        with self._lock:
            self._stuck.discard(run)
            if self._count > self._most() and self._sleeping:
                self._sleeping.pop().release()
