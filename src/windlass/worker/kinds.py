"""Which jobs block a thread while they run, as far as their task tells."""

from __future__ import annotations

from collections.abc import Container, Sequence

from ..core.model import Job
from ..definition import Definition
from ..task import Registry


class Kinds:
    """The two kinds of tasks of an app: `async def` on the event loop, and all others."""

    def __init__(self, registry: Registry, own: Container[str] = ()) -> None:
        self._registry = registry
        self._own = own
        """tasks of Windlass itself, none of which blocks"""
        self._size = -1
        self._default: object = None
        self.blocking: frozenset[str] = frozenset()
        """the names of those that block"""
        self.some_block = self.some_await = False
        """whether there are tasks of the one kind, and of the other"""
        self._others_block = False
        self.look()

    def look(self) -> None:
        """See what was added since the last time: an app may get tasks while its worker runs."""
        registry = self._registry
        if len(registry) == self._size and registry.default is self._default:
            return
        self._size, self._default = len(registry), registry.default
        tasks = {name: registry[name] for name in registry}
        self.blocking = frozenset(name for name, task in tasks.items() if blocks(task))
        default = registry.default
        self._others_block = default is not None and blocks(default.definition)
        self.some_block = bool(self.blocking) or self._others_block
        self.some_await = len(self.blocking) < len(tasks) or (
            default is not None and not self._others_block
        )

    def split(self, jobs: Sequence[Job]) -> tuple[Sequence[Job], Sequence[Job]]:
        """Those that run on the event loop, and those that block."""
        if not self.some_block:
            return jobs, ()
        if self._others_block:
            blocking = [job for job in jobs if self.blocks(job)]
        else:
            names = self.blocking
            blocking = [job for job in jobs if job.spec.task in names]
        if len(blocking) == len(jobs):
            return (), jobs
        return [job for job in jobs if not self.blocks(job)], blocking

    def blocks(self, job: Job) -> bool:
        """Whether a job needs a thread or a child process."""
        name = job.spec.task
        if name in self.blocking:
            return True
        return self._others_block and name not in self._registry and name not in self._own


def blocks(definition: Definition) -> bool:
    return not definition.is_async
