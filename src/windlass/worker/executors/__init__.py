"""Where handlers run: `async def` on the event loop, `def` in threads or child processes."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable
from functools import partial
from typing import Any

from ...core.context import Context
from ...definition import Definition
from ...errors import UsageError
from .awaited import Awaited
from .child import is_importing_main
from .processes import Processes
from .threads import Threads


class Executors:
    """The places of one worker.

    What is awaited can be cancelled wherever it runs: a coroutine sees `CancelledError`, a
    thread gets `AttemptStopped` raised into it, a child process is killed.
    """

    def __init__(self, size: int) -> None:
        if is_importing_main():
            raise UsageError(
                "A child process has to import the main module, which starts a worker: put that "
                'under `if __name__ == "__main__":`.'
            )
        self._size = size
        self._threads = Threads(size)
        self._processes: Processes | None = None

    def call(
        self, definition: Definition, context: Context, args: list[Any], kwargs: dict[str, Any]
    ) -> Awaitable[Any]:
        """The handler, called where its task says; the context goes first if it takes one."""
        if definition.process:
            return self._children().run(definition, context, args, kwargs)
        if definition.arguments.takes_context:
            args = [context, *args]
        if definition.is_async:
            work: Awaitable[Any] = definition.func(*args, **kwargs)
            return work
        variables = contextvars.copy_context()
        return Awaited(self._threads.run(partial(variables.run, definition.func, *args, **kwargs)))

    def close(self) -> None:
        """Let go of idle threads and processes; nothing here waits for a handler."""
        self._threads.close()
        if self._processes is not None:
            self._processes.close()

    def _children(self) -> Processes:
        if self._processes is None:
            self._processes = Processes(self._size)
        return self._processes
