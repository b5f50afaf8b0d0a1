"""The event loop that commands run on: uvloop's where it is installed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ..worker.shutdown import hears_signals
from .daemons import DaemonThreads

log = logging.getLogger("windlass")

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_factory()) as runner:
        runner.get_loop().set_default_executor(DaemonThreads())
        return runner.run(coroutine)


def run_on(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end, even if a handler stops the event loop.

    It does so by `stop()`, and by `sys.exit()` in a task or a callback of its own: asyncio lets
    these two exceptions end the loop, and with it everything that runs there.
    """
    with asyncio.Runner(loop_factory=_factory()) as runner:
        loop = runner.get_loop()
        loop.set_default_executor(DaemonThreads())
        task = loop.create_task(coroutine)
        while True:
            try:
                return runner.run(_result_of(task))
            except (RuntimeError, SystemExit, KeyboardInterrupt) as error:
                # Before the worker hears signals, Ctrl-C comes as such an exception.
                if task.done() or loop.is_closed() or not hears_signals():
                    raise
                _tell(error)


def hide_tasks() -> None:
    """Take the tasks that there are now out of `asyncio.all_tasks`.

    A handler that cancels all tasks which it finds there means its own. Who hides them has to see
    to their end.
    """
    for task in asyncio.all_tasks():
        asyncio._unregister_task(task)


async def _result_of(task: asyncio.Task[T]) -> T:
    return await task


def _tell(error: BaseException) -> None:
    how = f"raised {type(error).__name__}" if not isinstance(error, RuntimeError) else "stopped it"
    text = "a handler has %s in the event loop of this worker, which goes on all the same"
    log.error(text, how, exc_info=error)


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
