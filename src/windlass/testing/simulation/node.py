"""A worker process of the simulation: real parts, and a death that leaves no last words."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import nullcontext
from contextvars import Context, ContextVar, copy_context
from typing import Any

from ...app import Windlass
from ...config import WorkerSettings
from ...scheduler.upkeep import upkeep
from ...worker.aside import Aside
from ...worker.worker import Worker
from .wire import Wire

present: ContextVar[Node | None] = ContextVar("present", default=None)
"""The node whose code is running."""


class Beside(Aside):
    """What a worker does aside, on the same loop: there is one thread, and no handler blocks it."""

    _task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._serve())

    async def stop(self, patience: float) -> None:
        self._patience = patience
        self._stop.set()
        if self._task is not None:
            await self._task


class Single(Worker):
    """A worker with one thread."""

    beside = Beside


class Node:
    """One process, from its start to its end."""

    def __init__(self, name: str, wire: Wire) -> None:
        self.name = name
        self.wire = wire
        self.tasks: dict[asyncio.Task[Any], None] = {}
        """in the order in which they were made: a set would differ from run to run"""
        self._worker: Worker | None = None
        self._context = copy_context()
        self._context.run(present.set, self)

    def run(self, coro: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Let something go on in this node, for as long as it lives."""
        return self._context.run(asyncio.ensure_future, coro)

    @property
    def lives(self) -> bool:
        return not self.wire.is_cut

    async def work(self, app: Windlass, settings: WorkerSettings) -> None:
        """Run a worker with its upkeep until it is stopped, or killed."""
        services = upkeep(self.wire, app.registry, settings)
        worker = Single(
            app.registry,
            app.codecs,
            self.wire,
            settings,
            services,
            connect=lambda: nullcontext(self.wire),
        )
        self._worker = worker
        await worker.start()

    async def stop(self, patience: float) -> bool:
        """End it as SIGTERM would; whether it took no longer than that."""
        if self._worker is None:
            return True
        stopping = self.run(self._worker.stop())
        await asyncio.wait((stopping,), timeout=patience)
        return stopping.done()

    def kill(self) -> None:
        """End it as SIGKILL would: what its code still does on the way out reaches nobody."""
        self.wire.cut()
        for task in list(self.tasks):
            task.cancel()


def adopting(
    loop: asyncio.AbstractEventLoop,
    coro: Coroutine[Any, Any, Any],
    *,
    context: Context | None = None,
) -> asyncio.Task[Any]:
    """A task factory: each task is of the node whose code made it."""
    task = asyncio.Task(coro, loop=loop, context=context)
    node = present.get()
    if node is not None:
        node.tasks[task] = None
        task.add_done_callback(node.tasks.pop)
    return task
