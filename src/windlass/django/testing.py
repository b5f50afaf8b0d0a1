"""For the tests of a Django project: what was enqueued, and a way to run it.

Nothing here is needed to keep tests off the store: within Django's test runner and pytest-django,
jobs are kept in the test database, in the transaction of the test, or in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.codec import decode_call, encode_call
from ..core.model import Job
from ..core.states import State
from .application import project_app
from .client import is_testing
from .running import pages
from .running import run_enqueued as _run

if TYPE_CHECKING:
    from unittest import TestCase as Base
else:
    Base = object

__all__ = ["EnqueueAssertions", "enqueued", "forget", "run_enqueued"]


def enqueued(task: Any = None) -> Sequence[Job]:
    """The jobs that there are, in the order in which they came: of one task, or of all.

    Those that `run_enqueued` has run are among them, with what they came to. `task` is a task of
    Windlass, one of Django, or a name.
    """
    jobs = sorted(pages(project_app(), tuple(State)), key=lambda job: job.id)
    name = None if task is None else name_of(task)
    return [job for job in jobs if name in (None, job.task)]


def run_enqueued() -> Sequence[Job]:
    """Run the jobs that are pending, in this thread, and those that they enqueue."""
    return _run(project_app())


def forget() -> None:
    """Delete all jobs of the test database, or of the memory that stands for the store."""
    if not is_testing():
        return
    app = project_app()
    ids = [job.id for job in pages(app, tuple(State))]
    if ids:
        app.client.block(lambda store: store.delete(ids, moved=True), "forget()", "forget()")


def forget_after_flush(using: str, **kwargs: Any) -> None:
    """After a `TransactionTestCase` Django empties the tables of models, of which ours are none."""
    if is_testing() and project_app().conf.database in (None, using):
        forget()


def name_of(task: Any) -> str:
    """What jobs of a task are called in the store."""
    if isinstance(task, str):
        return task
    name: str = getattr(task, "module_path", None) or task.name
    return name


class EnqueueAssertions(Base):
    """For a `TestCase`, in front of it: each test begins without jobs, and can ask for them."""

    def setUp(self) -> None:
        super().setUp()
        forget()

    def assertEnqueued(
        self,
        task: Any,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        *,
        count: int | None = None,
    ) -> Sequence[Job]:
        """Fail unless jobs of the task were enqueued: with these arguments, and so many."""
        jobs = enqueued(task)
        found = [job for job in jobs if _has(job, args, kwargs)]
        if not found if count is None else len(found) != count:
            there = ", ".join(_shown(job) for job in enqueued()) or "none"
            self.fail(f"{len(found)} such jobs of {name_of(task)} were enqueued; jobs: {there}.")
        return found

    def assertNotEnqueued(self, task: Any = None) -> None:
        """Fail if a job was enqueued: of this task, or of any."""
        there = ", ".join(_shown(job) for job in enqueued(task))
        if there:
            self.fail(f"No job was to be enqueued; jobs: {there}.")


def _has(job: Job, args: Sequence[Any] | None, kwargs: Mapping[str, Any] | None) -> bool:
    codec = project_app().codecs.get(job.spec.content_type)
    plain = project_app().codecs.get("msgpack")
    had, named = decode_call(codec, job.spec.payload, job.id, job.task)
    meant = decode_call(plain, encode_call(plain, tuple(args or ()), dict(kwargs or {})))
    return (args is None or had == meant[0]) and (kwargs is None or named == meant[1])


def _shown(job: Job) -> str:
    codec = project_app().codecs.get(job.spec.content_type)
    args, kwargs = decode_call(codec, job.spec.payload, job.id, job.task)
    given = [*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())]
    return f"{job.task}({', '.join(given)})"
