"""The one place that is told each step of a job, and who is told further.

For each step there are its `Listeners`, which are false while there is none: so a step of the hot
path that nobody listens to costs one look, `if events.started: events.started(job, waited)`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Generic, ParamSpec, Protocol

from msgspec.structs import replace

from ..core.model import Job, Lease, NewJob, Receipt, Transition
from ..core.notes import fit
from ..core.schedule import Schedule
from ..errors import InvalidOption
from .ledger import Ledger

log = logging.getLogger("windlass")

P = ParamSpec("P")


class Working(Protocol):
    """A worker, as observers see it, from any thread."""

    ledger: Ledger
    """what it counts"""

    @property
    def slots(self) -> int:
        """How many jobs it can run at the same time; none once it has stopped."""

    @property
    def busy(self) -> int:
        """How many of these are taken."""

    def running(self) -> Sequence[Job]:
        """The jobs whose attempts are under way."""


class Observer:
    """Write a class of this kind with any of these methods, and give one of it to `app.observe`.

    They are plain functions that must not block, and are called from more than one thread. What
    one raises is logged, once for each kind, and changes nothing.
    """

    def enqueuing(self, job: NewJob) -> Mapping[str, str] | None:
        """Headers to add to a job that is about to be stored; in the context of the caller."""
        return None

    def enqueued(self, job: NewJob, receipt: Receipt) -> None:
        """The store has the job, or had it before: then the receipt says duplicate."""

    def rejected(self, job: NewJob, error: BaseException) -> None:
        """The store did not take the job, or nobody knows whether it did."""

    def working(self, worker: Working) -> None:
        """A worker starts."""

    def claimed(self, jobs: Sequence[Job], seconds: float) -> None:
        """A call of the store has handed out these jobs. For stores opened afterwards."""

    def started(self, job: Job, waited: float) -> None:
        """An attempt begins, `waited` seconds after the job was due.

        Runs in the task and the context of the attempt: what is set in a context variable here
        holds in the handler, in its thread too, and in `ended`. A handler of batches has the
        context of none of its jobs.
        """

    def ended(
        self, job: Job, move: Transition | None, seconds: float, error: BaseException | None
    ) -> None:
        """An attempt that was started has ended; `error` is what it raised.

        `move` is what is going to be written: that can still be `refused`. None where the lease is
        lost, and nothing is.
        """

    def finished(self, moves: Sequence[Transition], seconds: float) -> None:
        """A call of the store has written these moves, or refused them. As with `claimed`."""

    def lost(self, job: Job) -> None:
        """A job in hand was cancelled or taken over; its attempt, if it has begun, is stopped."""

    def cancelled(self, job: Job) -> None:
        """A call of this process has cancelled a job, which is told as it was before.

        For stores opened afterwards, and not for one behind a server: there the server is told.
        """

    def refused(self, job: Job) -> None:
        """What an attempt came to was not taken: its fence is not the last one any more."""

    def rescued(self, job: Job, move: Transition) -> None:
        """A job whose lease had run out was taken over, and `move` is what becomes of it."""

    def renewed_late(self, leases: Sequence[Lease], seconds: float) -> None:
        """Leases were renewed, but more than half of their time was over."""

    def ticked(self, schedule: Schedule, receipt: Receipt, lag: float) -> None:
        """A schedule has enqueued its job, `lag` seconds after the tick; a duplicate overlaps."""

    def missed(self, schedule: Schedule, number: int) -> None:
        """Ticks of a schedule went by and will not run."""

    def led(self, role: str, leads: bool) -> None:
        """This process has won the leadership of a role, or lost it."""

    def called(self, call: str, seconds: float, error: BaseException | None) -> None:
        """A call of the store has ended; `wait` is no such call. For stores opened afterwards."""


EVENTS: Final = tuple(name for name in vars(Observer) if not name.startswith("_"))


class Listeners(tuple[Callable[P, Any], ...], Generic[P]):
    """Those who listen to one step. Call it to tell them; none of them can do harm."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        for listener in self:
            try:
                listener(*args, **kwargs)
            except Exception as error:
                note(listener, error)


class Events:
    """The steps of one app, each with those who listen to it."""

    __slots__ = EVENTS

    enqueuing: Listeners[[NewJob]]
    enqueued: Listeners[[NewJob, Receipt]]
    rejected: Listeners[[NewJob, BaseException]]
    working: Listeners[[Working]]
    claimed: Listeners[[Sequence[Job], float]]
    started: Listeners[[Job, float]]
    ended: Listeners[[Job, Transition | None, float, BaseException | None]]
    finished: Listeners[[Sequence[Transition], float]]
    lost: Listeners[[Job]]
    cancelled: Listeners[[Job]]
    refused: Listeners[[Job]]
    rescued: Listeners[[Job, Transition]]
    renewed_late: Listeners[[Sequence[Lease], float]]
    ticked: Listeners[[Schedule, Receipt, float]]
    missed: Listeners[[Schedule, int]]
    led: Listeners[[str, bool]]
    called: Listeners[[str, float, BaseException | None]]

    def __init__(self) -> None:
        for name in EVENTS:
            setattr(self, name, Listeners())

    def observe(self, observer: Observer) -> None:
        """Have an observer told of the steps whose methods it has written."""
        if not isinstance(observer, Observer):
            raise InvalidOption(
                f"An observer is an object of a class that extends Observer; got {observer!r}."
            )
        for name in EVENTS:
            if getattr(type(observer), name) is not getattr(Observer, name):
                setattr(self, name, Listeners((*getattr(self, name), getattr(observer, name))))

    def with_headers(self, job: NewJob) -> NewJob:
        """A job with the headers that observers add to it."""
        added: dict[str, str] = {}
        for listener in self.enqueuing:
            try:
                wanted = listener(job) or {}
                if fit(job.spec, {**added, **wanted}):
                    added.update(wanted)
            except Exception as error:
                note(listener, error)
        if not added:
            return job
        headers = {**(job.spec.headers or {}), **added}
        return replace(job, spec=replace(job.spec, headers=headers))


def waited(job: Job) -> float:
    """Seconds from when a claimed job was due until it was claimed, both by the store's clock."""
    return max((job.started_at or 0) - job.due, 0) / 1000


_noted: set[tuple[object, type[BaseException]]] = set()


def note(listener: Callable[..., Any], error: Exception) -> None:
    """Log what a listener has raised, the first time that it is of this kind."""
    kind = getattr(listener, "__func__", listener), type(error)
    if kind not in _noted:
        _noted.add(kind)
        name = getattr(listener, "__qualname__", repr(listener))
        log.error("%s failed; this kind of error is logged only once", name, exc_info=error)
