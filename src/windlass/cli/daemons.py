"""Threads for `asyncio.to_thread` that nobody waits for at the end of the process."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class DaemonThreads(ThreadPoolExecutor):
    """As many threads as asyncio has by default, all of them daemons.

    Those of `ThreadPoolExecutor` are joined when the event loop is closed and once more when the
    interpreter ends: a handler in one of them that never returns would keep a stopped worker.
    It is one of these by name alone, because event loops take nothing else.
    """

    def __init__(self) -> None:
        super().__init__()
        self._line: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._turn = threading.Lock()
        self._idle = threading.Semaphore(0)
        self._made = 0
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        with self._turn:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._line.put(partial(_perform, future, partial(fn, *args, **kwargs)))
            if not self._idle.acquire(blocking=False) and self._made < self._max_workers:
                self._made += 1
                name = f"windlass-to-thread-{self._made}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let idle threads end; the others end after what they are at, or with the process."""
        with self._turn:
            self._closed = True
            for _ in range(self._made):
                self._line.put(None)

    def _serve(self) -> None:
        while True:
            try:
                work = self._line.get_nowait()
            except Empty:
                self._idle.release()
                work = self._line.get()
            if work is None:
                return
            work()
            del work


def _perform(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        value = work()
    except BaseException as error:
        outcome: Callable[[], None] = partial(future.set_exception, error)
    else:
        outcome = partial(future.set_result, value)
    with suppress(RuntimeError):  # the event loop that waits for it is closed
        outcome()
