"""What a handler can do with the workflow that its job belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from .model import Job
from .options import JobLike
from .step import Step


class Workflow(Protocol):
    """The workflow of a running job. It does not end before what is added here has ended.

    The n-th job that an attempt adds is the n-th that the attempt before has added: a handler
    that runs again does not double its work.
    """

    @property
    def id(self) -> str: ...

    def add(
        self,
        step: Step[Any],
        *,
        takes: JobLike | Iterable[JobLike] = (),
        gathers: Iterable[JobLike] = (),
        after: JobLike | Iterable[JobLike] = (),
    ) -> str:
        """Add a job, from a blocking handler; its id. `takes`, `gathers` and `after` are jobs
        that it waits for, as by `Dag.add`."""

    async def aadd(
        self,
        step: Step[Any],
        *,
        takes: JobLike | Iterable[JobLike] = (),
        gathers: Iterable[JobLike] = (),
        after: JobLike | Iterable[JobLike] = (),
    ) -> str:
        """The same for handlers on the event loop."""


class Workflows(Protocol):
    """Gives running jobs their workflows."""

    def of(self, job: Job) -> Workflow: ...
