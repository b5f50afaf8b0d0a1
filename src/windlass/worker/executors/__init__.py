"""Where handlers run: `async def` on the event loop, `def` in threads or child processes."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from ...core.context import Context
from ...definition import Definition
from ...errors import UsageError
from .awaited import Awaited
from .child import is_importing_main
from .children import ChildLimits
from .processes import Processes
from .threads import Threads

DEFAULT: Final = ChildLimits()


class Executors:
    """The places of one worker.

    What is awaited can be cancelled wherever it runs: a coroutine sees `CancelledError`, a
    thread gets `AttemptStopped` raised into it, a child process is killed.
    """

    def __init__(self, size: int, children: ChildLimits = DEFAULT) -> None:
        if is_importing_main():
            raise UsageError(
                "A child process has to import the main module, which starts a worker: put that "
                'under `if __name__ == "__main__":`.'
            )
        self._size = size
        self._limits = children
        self._threads = Threads(size)
        self._processes: Processes | None = None

    def call(
        self,
        definition: Definition,
        context: Context,
        args: list[Any],
        kwargs: dict[str, Any],
        on_begin: Callable[[], None] | None = None,
    ) -> Awaitable[Any]:
        """The handler, called where its task says; the context goes first if it takes one.

        `on_begin` is called once, on the event loop, when the handler begins: for an `async def`
        here and now, for a `def` when a thread has taken it, for `process=True` when the child
        has imported its module. It is never called for one that was stopped before that.
        """
        if definition.process:
            return self._children().run(definition, context, args, kwargs, on_begin)
        if definition.arguments.takes_context:
            args = [context, *args]
        if definition.is_async:
            if on_begin is not None:
                on_begin()
            work: Awaitable[Any] = definition.func(*args, **kwargs)
            return work
        call = partial(contextvars.copy_context().run, definition.func, *args, **kwargs)
        run = self._threads.run(call, on_begin=on_begin)
        run.name = definition.name
        return Awaited(run)

    def take_back(self) -> int:
        """Have calls that no thread has begun end with `NotBegun`; how many those are."""
        number = self._threads.take_back()
        return number if self._processes is None else number + self._processes.take_back()

    def fault(self) -> str | None:
        """What to say if no thread is left for blocking handlers; from any thread."""
        fault = self._threads.fault()
        return fault if fault or self._processes is None else self._processes.fault()

    def close(self) -> None:
        """Let go of idle threads and processes; nothing here waits for a handler."""
        self._threads.close()
        if self._processes is not None:
            self._processes.close()

    def _children(self) -> Processes:
        if self._processes is None:
            self._processes = Processes(self._size, self._limits)
        return self._processes
