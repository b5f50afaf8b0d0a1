"""What a handler can know of the attempt that it is running."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from datetime import timedelta
from logging import LogRecord
from typing import Any, Final

import msgspec

from ..errors import InvalidOption, UsageError, shown
from .checkpoint import Checkpoints
from .excerpt import storable
from .ids import new_id
from .model import Job, Lease, Progress, Spec
from .signal import Signals
from .states import State
from .transaction import Transaction
from .workflow import Workflow, Workflows

MAX_NOTE: Final = 500


class Context(msgspec.Struct, frozen=True, gc=False):
    """The present attempt. A handler declared with `context=True` gets one as its first argument.

    `fence` only ever grows from one attempt of a job to the next: hand it to outside
    systems, so that they can refuse a worker that lost its lease and does not know yet.
    """

    job: Job
    report: Callable[[Lease, Progress], None] | None = None
    begin: Callable[[Job], Transaction] | None = None
    checkpoints: Checkpoints | None = None
    workflows: Workflows | None = None
    signals: Signals | None = None
    capture: Callable[[Job, LogRecord], None] | None = None
    """where what the handler logs goes, to be kept with the job"""

    def progress(self, percent: float, message: str = "") -> None:
        """Say how far the job has come. Say it as often as you like: only the last word of
        each half second is written."""
        if not isinstance(percent, int | float) or percent != percent:
            raise InvalidOption(f"progress is a number from 0 to 100; got {shown(percent)}.")
        if not isinstance(message, str):
            raise InvalidOption(f"The message of progress is a text; got {shown(message)}.")
        if self.report is not None:
            # What is added up in steps may come to a little more than 100.
            done = float(min(max(percent, 0), 100))
            self.report(self.job.lease, Progress(done, storable(message[:MAX_NOTE])))

    @property
    def state(self) -> Any:
        """What the last attempt left by a checkpoint, in plain builtins; None if nothing."""
        return None if self.checkpoints is None else self.checkpoints.state(self.job)

    def checkpoint(self, value: Any) -> None:
        """Leave a value for the next attempt, from a blocking handler; returns when it is stored.

        It takes the place of the one before. If the lease is lost the handler is stopped.
        """
        if self.checkpoints is not None:
            self.checkpoints.keep(self.job, value)

    async def acheckpoint(self, value: Any) -> None:
        """Leave a value for the next attempt, from an async handler."""
        if self.checkpoints is not None:
            await self.checkpoints.akeep(self.job, value)

    def wait_for(self, name: str, timeout: float | timedelta | None = None) -> Any:
        """The value of a signal, from a blocking handler; `SignalTimeout` if it does not come.

        If it has not come yet the attempt ends here, without being counted: the handler is called
        anew, from its start, when the signal comes or the time is over.
        """
        return self._signals().take(self.job, name, timeout)

    async def await_for(self, name: str, timeout: float | timedelta | None = None) -> Any:
        """The value of a signal, from an async handler."""
        return await self._signals().atake(self.job, name, timeout)

    def _signals(self) -> Signals:
        if self.signals is None:
            raise UsageError(
                "A handler can only wait for a signal in a worker: this function was called "
                "directly."
            )
        return self.signals

    @property
    def workflow(self) -> Workflow:
        """The workflow that the job belongs to."""
        if self.workflows is None:
            raise UsageError(
                "context.workflow needs a worker and a handler that runs in it: this function was "
                "called directly, or runs in a child process."
            )
        return self.workflows.of(self.job)

    def transaction(self) -> Transaction:
        """A transaction on the store's database, if that is SQL; its commit completes the job.

        `async with` it in an async handler, `with` it in a blocking one.
        """
        if self.begin is None:
            raise UsageError(
                "context.transaction() needs a worker, whose job it completes: this context has "
                "none, since the function was called directly."
            )
        return self.begin(self.job)

    @property
    def id(self) -> str:
        """The id of the job."""
        return self.job.id

    @property
    def headers(self) -> Mapping[str, str]:
        """What middleware wrote to the job when it was enqueued."""
        return self.job.spec.headers or {}

    @property
    def attempt(self) -> int:
        """1 for the first run."""
        return self.job.attempt

    @property
    def fence(self) -> int:
        """Greater with each claim of the job: of two attempts the later one has the greater."""
        return self.job.fence


current: Final[ContextVar[Context]] = ContextVar("windlass_context")

current_batch: Final[ContextVar[Sequence[Context]]] = ContextVar("windlass_batch")
"""Those of the jobs that a handler of batches runs for; it has no single one."""


def current_context() -> Context:
    """The context of the job that this code is running for."""
    try:
        return current.get()
    except LookupError:
        raise UsageError(
            "There is no current job: this code was not started by a worker."
        ) from None


def local_context(task: str) -> Context:
    """A context for a handler that is called directly, as a plain function."""
    return Context(Job(new_id(), Spec(task, b""), "local", State.ACTIVE, 50, 0, 0, attempt=1))
