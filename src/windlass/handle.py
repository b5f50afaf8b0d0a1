"""Handles: a job that was enqueued, as its producer goes on with it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from .client import (
    Client,
    cancel_job,
    get_job,
    prioritize_job,
    reschedule_job,
    signal_job,
)
from .core import habits
from .core.attempts import AttemptRecord
from .core.codec import Codecs
from .core.dependents import ORPHANED
from .core.model import Failure, Job
from .core.name import checked_name
from .core.options import Options
from .core.outcome import EXPIRED
from .core.result import result_of
from .core.states import State
from .errors import JobCancelled, JobFailed, WrongTask
from .stores.contract import Store
from .waiting import await_end, wait

T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)


class JobHandle(Generic[R_co]):
    """A job that was enqueued; `R` is what its task returns.

    `duplicate` says that no new job was made: one with this id, or holding the same
    unique key, was there before, and this is it.
    """

    __slots__ = ("__weakref__", "_client", "_codecs", "_convert", "_task", "duplicate", "id")

    _noun: ClassVar = "job"
    """what it is called in errors"""

    def __init__(
        self,
        client: Client,
        codecs: Codecs,
        id: str,
        convert: Callable[[Any, bool], R_co],
        duplicate: bool = False,
        task: str | None = None,
    ) -> None:
        """`task` is that of the job, as far as it is known."""
        self.id = id
        self.duplicate = duplicate
        self._client = client
        self._codecs = codecs
        self._convert = convert
        self._task = task

    if not TYPE_CHECKING:  # or type checkers would take any attribute for one

        def __getattr__(self, name: str) -> Any:
            """Say what to use for what handles of other queues have."""
            raise habits.unknown(self, name, habits.HANDLES.get(name))

    def __repr__(self) -> str:
        return f"<JobHandle {self.id}{' duplicate' if self.duplicate else ''}>"

    def get(self) -> Job:
        """The job as the store has it now."""
        return self._block(self._get, "get()")

    async def aget(self) -> Job:
        """The same for async code."""
        return await self._get(await self._client.store())

    def result(self, timeout: float | None = None) -> R_co:
        """Wait for the job's end and give its result, or raise what it came to.

        `timeout` is in seconds; None waits as long as it takes. If no worker serves the job's
        queue, the log says so after a few seconds; `ResultTimeout` says why the job does not run.
        """
        return self._outcome(self._wait(timeout, "result(…)", "aresult(…)"))

    async def aresult(self, timeout: float | None = None) -> R_co:
        """The same for async code."""
        return self._outcome(await self._await(timeout))

    def cancel(self) -> None:
        """Call the job off. `WrongState` if it is finished already."""
        self._block(self._cancel, "cancel()")

    async def acancel(self) -> None:
        """The same for async code."""
        await self._cancel(await self._client.store())

    def reschedule(self, delay: float | timedelta = 0, *, at: datetime | None = None) -> None:
        """Give the job another time: so many seconds from now, or a moment.

        `WrongState` if it neither waits for a worker nor for its time.
        """
        act = self._reschedule(delay, at)
        self._block(act, "reschedule(…)")

    async def areschedule(
        self, delay: float | timedelta = 0, *, at: datetime | None = None
    ) -> None:
        """The same for async code."""
        await self._reschedule(delay, at)(await self._client.store())

    def prioritize(self, priority: int | str) -> None:
        """Give the job another priority, 0 to 100, or low, default or high.

        Pending, it goes to the end of the line of that. `WrongState` if it does not wait.
        """
        act = self._prioritize(priority)
        self._block(act, "prioritize(…)")

    async def aprioritize(self, priority: int | str) -> None:
        """The same for async code."""
        await self._prioritize(priority)(await self._client.store())

    def attempts(self) -> Sequence[AttemptRecord]:
        """What its attempts came to and have logged, oldest first, as far as that is kept."""
        return self._block(self._attempts, "attempts()")

    async def aattempts(self) -> Sequence[AttemptRecord]:
        """The same for async code."""
        return await self._attempts(await self._client.store())

    def signal(self, name: str, value: Any = None) -> None:
        """Send the job what its handler waits for, or will wait for; the first of a name stays.

        `WrongState` if it is finished, or has another signal of this name.
        """
        self._block(self._signal(name, value), "signal(…)")

    async def asignal(self, name: str, value: Any = None) -> None:
        """The same for async code."""
        await self._signal(name, value)(await self._client.store())

    def _signal(self, name: str, value: Any) -> Callable[[Store], Coroutine[Any, Any, None]]:
        checked_name(name, "name of a signal")
        return lambda store: signal_job(store, self._codecs, self.id, name, value)

    def _reschedule(
        self, delay: float | timedelta, at: datetime | None
    ) -> Callable[[Store], Coroutine[Any, Any, None]]:
        options = Options().merged({"delay": delay} if at is None else {"at": at})
        return lambda store: reschedule_job(store, self.id, options.delay, options.at)

    def _prioritize(self, priority: int | str) -> Callable[[Store], Coroutine[Any, Any, None]]:
        chosen = Options().merged({"priority": priority}).priority
        return lambda store: prioritize_job(store, self.id, chosen)

    async def _attempts(self, store: Store) -> Sequence[AttemptRecord]:
        return (await store.attempts([self.id])).get(self.id, ())

    def _block(self, act: Callable[[Store], Coroutine[Any, Any, T]], call: str) -> T:
        return self._client.block(act, f"{self._noun}.{call}", f"{self._noun}.a{call}")

    def _wait(self, timeout: float | None, call: str, also: str) -> Job:
        """The job once it is finished; the call and its async name are for errors."""
        names = f"{self._noun}.{call}", f"{self._noun}.{also}"
        return wait(self._client, self.id, timeout, self._refuse_another, *names)

    async def _await(self, timeout: float | None) -> Job:
        return await await_end(self._client, self.id, timeout, self._refuse_another)

    def _refuse_another(self, job: Job) -> None:
        if self._task is not None and job.task != self._task:
            raise WrongTask(
                f"Job {job.id} is one of {job.task}, not of {self._task}: it had this id, or the "
                "unique key, before."
            )

    async def _get(self, store: Store) -> Job:
        return await get_job(store, self.id)

    async def _cancel(self, store: Store) -> None:
        await cancel_job(store, self.id)

    def _outcome(self, job: Job) -> R_co:
        if job.state is State.CANCELLED:
            told = job.error is not None and job.error.kind in (EXPIRED.kind, ORPHANED)
            reason = f": {job.error.message}" if told and job.error else ""
            raise JobCancelled(f"Job {job.id} was cancelled{reason}.")
        if job.state is State.DEAD:
            error = job.error or Failure("Unknown", "")
            after = f"after attempt {job.attempt}" if not job.lost else "with its worker"
            raise JobFailed(
                f"Job {job.id} is dead {after}: {error}",
                kind=error.kind,
                traceback=error.traceback,
            )
        codec = self._codecs.get(job.spec.content_type)
        return self._convert(result_of(self._codecs, job), codec.binary)
