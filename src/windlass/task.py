"""A task: a function, its options, and the typed ways to make jobs of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    NamedTuple,
    ParamSpec,
    TypeVar,
    Unpack,
    overload,
)

from msgspec.structs import replace

from .client import Client
from .core import habits
from .core.binding import EncryptingCodec, with_key_in_id, with_key_in_new_id
from .core.codec import Codec, Codecs, encode_call, refuse_misfits, too_large
from .core.context import local_context
from .core.keyed import Caller, computed, keyed, keyed_late, without
from .core.model import DEFAULT_QUEUE, NewJob, Receipt
from .core.option_help import with_options
from .core.options import JobOptions, Options, TaskOptions
from .core.schedule import Schedule
from .core.signature import signature_of
from .core.step import COMPUTED_LATER, Link, Step, StepKeys
from .definition import DefaultHandler, Definition, checked_validate
from .errors import DuplicateJob, InvalidOption, UnknownTask
from .handle import JobHandle
from .middleware import Stack, changed
from .observe.events import Events
from .resources import Need, Provided, Values, filled
from .sync import need_loop

P = ParamSpec("P")
Q = ParamSpec("Q")
X = TypeVar("X")
C = TypeVar("C")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Registry:
    """The tasks of an app by name, and what is to surround their jobs."""

    def __init__(self) -> None:
        self._tasks: dict[str, Definition] = {}
        self.default: DefaultHandler | None = None
        """what runs jobs of all other tasks, if anything does"""
        self.schedules: dict[str, Schedule] = {}
        """those that the app declares, by name"""
        self.queues: dict[str, str] = {}
        """the queue that each task names"""
        self.events = Events()
        self.middleware = Stack(self.events)
        self.on_startup: list[Provided] = []
        self.on_shutdown: list[Provided] = []
        self.overrides: Values = {}
        """what stands for a resource, in tests"""

    def add(self, definition: Definition, queue: str = DEFAULT_QUEUE) -> None:
        if definition.name in self._tasks:
            raise InvalidOption(
                f"There is a task {definition.name} already; give this one name='…' of its own."
            )
        self._tasks[definition.name] = definition
        self.queues[definition.name] = queue

    def set_default(self, handler: DefaultHandler) -> None:
        if self.default is not None:
            raise InvalidOption(
                f"There is a default handler already, {self.default.definition.name}; an app has "
                "one."
            )
        self.default = handler

    def add_schedule(self, schedule: Schedule) -> None:
        if schedule.name in self.schedules:
            raise InvalidOption(
                f"There is a schedule {schedule.name} already; give this one name='…' of its own."
            )
        self.schedules[schedule.name] = schedule

    def __getitem__(self, name: str) -> Definition:
        try:
            return self._tasks[name]
        except KeyError:
            raise UnknownTask(f"No task named {name} is registered in this app.") from None

    def __contains__(self, name: object) -> bool:
        return name in self._tasks

    def __iter__(self) -> Iterator[str]:
        return iter(self._tasks)

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def is_empty(self) -> bool:
        """Whether a worker could run nothing."""
        return not self._tasks and self.default is None

    def needs(self) -> Iterator[Need]:
        """The resources that tasks and hooks ask for; one may come more than once."""
        default = () if self.default is None else (self.default.definition,)
        for definition in (*self._tasks.values(), *default):
            yield from definition.arguments.left_out.values()
        for hook in (*self.on_startup, *self.on_shutdown):
            yield from hook.needs.values()


class Wire(NamedTuple):
    """What the tasks of one app share: where jobs go and how arguments are written."""

    client: Client
    codecs: Codecs
    max_payload: int
    middleware: Stack
    overrides: Values


_NOT_STORED: Final = ("connection", "validate")


class CallOptions(JobOptions, total=False):
    """What `using` takes: options that are stored with the job, and two that are not."""

    connection: object
    validate: bool


class Call(Generic[R_co]):
    """A job that is ready to be enqueued together with others; made by `task.call(…)`."""

    __slots__ = ("convert", "job", "raises")

    def __init__(
        self, job: NewJob, convert: Callable[[Any, bool], R_co], *, raises: bool = False
    ) -> None:
        self.job = job
        self.convert = convert
        self.raises = raises
        """whether one that was there before is an error"""


class Task(Generic[P, C, R]):
    """A function that can be enqueued, and still be called.

    `P` are its arguments, `C` is what calling it gives (a coroutine if it is async), `R`
    what it returns.
    """

    def __init__(
        self, definition: Definition, options: Options, wire: Wire, connection: object = None
    ) -> None:
        self.definition = definition
        self.options = options
        self._wire = wire
        self._connection = connection
        self.__doc__ = definition.func.__doc__
        self.__name__ = definition.name
        self.__wrapped__ = definition.func

    @property
    def name(self) -> str:
        """What it is called in the store."""
        return self.definition.name

    if not TYPE_CHECKING:  # or type checkers would take any attribute for one

        def __getattr__(self, name: str) -> Any:
            """Say what to use for what tasks of other queues have."""
            hint = habits.METHODS.get(name)
            named = self.__dict__.get("__name__", "task")
            raise habits.unknown(self, name, hint and hint.format(task=named))

    def __repr__(self) -> str:
        return f"<Task {self.definition.arguments}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> C:
        """Run the function right here, as if it were no task.

        Resources must be passed, or overridden: only a worker opens them. A task that takes
        batches gets one of this single item.
        """
        func, arguments = self.definition.func, self.definition.arguments
        given: list[Any] = [[*args]] if self.definition.batch else [*args]
        if arguments.takes_context:
            given.insert(0, local_context(self.name))
        if not arguments.left_out:
            return func(*given, **kwargs)  # type: ignore[no-any-return]
        passed = signature_of(func).bind_partial(*given, **kwargs).arguments
        needs = {name: need for name, need in arguments.left_out.items() if name not in passed}
        named = filled(needs, self._wire.overrides, kwargs, self.name)
        return func(*given, **named)  # type: ignore[no-any-return]

    def using(self, **options: Unpack[CallOptions]) -> Task[P, C, R]:
        """This task with other options, for one job or for many.

        With a `connection` of yours, jobs exist if and only if its transaction commits.
        """
        connection = options.get("connection", self._connection)
        definition = self.definition
        if "validate" in options:
            definition = definition._replace(validate=checked_validate(options["validate"]))
        stored = {name: value for name, value in options.items() if name not in _NOT_STORED}
        return Task(definition, self.options.merged(stored), self._wire, connection)

    def enqueue(self, *args: P.args, **kwargs: P.kwargs) -> JobHandle[R]:
        """Store a job, from blocking code; returns when the store has it."""
        wire = self._wire
        jobs = wire.middleware.before([self._job(args, kwargs)])
        receipts = wire.client.insert(
            jobs, f"{self.name}.enqueue(…)", f"{self.name}.aenqueue(…)", self._connection
        )
        return self._stored(jobs, receipts)

    def aenqueue(self, *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[JobHandle[R]]:
        """Store a job, from async code: `await` it to know that the store has it.

        It is under way from this call on: without `await` the job is stored before the event loop
        ends, or a WARNING in the log says that it was not.
        """
        need_loop(f"{self.name}.aenqueue(…)", f"{self.name}.enqueue(…)")
        wire = self._wire
        jobs = wire.middleware.before([self._job(args, kwargs)])
        if self._connection is None:
            return wire.client.enqueue(jobs, self._stored)
        call, instead = f"{self.name}.aenqueue(…)", f"{self.name}.enqueue(…)"
        return wire.client.enqueue_on(self._connection, jobs, self._stored, call, instead)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> Call[R]:
        """A job for `app.enqueue_many`: checked and encoded, not stored."""
        if self._connection is not None:
            raise InvalidOption(
                "A call is made without a connection; give it to enqueue_many(…, connection=…)."
            )
        raises = self.options.on_conflict == "raise"
        return Call(self._job(args, kwargs), self._convert, raises=raises)

    # As callables, of which mypy can infer the first argument; of a Task it cannot.
    @overload
    def step(  # type: ignore[misc]
        self: Callable[Concatenate[X, Q], Coroutine[Any, Any, R]],
        *args: Q.args,
        **kwargs: Q.kwargs,
    ) -> Link[X, R]: ...
    @overload
    def step(
        self: Callable[Concatenate[X, Q], R], *args: Q.args, **kwargs: Q.kwargs
    ) -> Link[X, R]: ...
    @overload
    def step(self, *args: P.args, **kwargs: P.kwargs) -> Step[R]: ...
    def step(self, *args: Any, **kwargs: Any) -> Step[R]:
        """A job for a workflow, without the arguments that flow in from other steps.

        These come first; how many there are is known when the workflow is put together. A unique
        key that the task declares does not hold for its steps: each of them has to run.
        """
        options, arguments = self.options, self.definition.arguments
        if options.unique is not None and options.unique == self.definition.options.unique:
            options = options.merged({"unique": None})
        if options.id is not None or options.unique is not None or self._connection is not None:
            raise InvalidOption(
                f"A step of {self.name} cannot have id, unique or connection: its id is its "
                "workflow's to give, each step has to run whoever holds a key, and connection is "
                "for enqueue_workflow(…)."
            )

        arguments.check_partly(args, kwargs)
        names = computed(options)
        first: Task[..., Any, R] = Task(self.definition, without(options, names), self._wire)
        job = first._encoded(args, kwargs, validate=False)

        def check(inflow: int) -> None:
            arguments.check([None] * inflow + [*args], kwargs)
            if self.definition.validate:
                codec, payload = self._wire.codecs.default, job.spec.payload
                refuse_misfits(arguments, codec, payload, inflow, job.id, self.name)

        if not names:
            return Link(job, self._convert, check)

        def later() -> NewJob:
            self._refuse_strange(options, names)
            return changed(job, headers={COMPUTED_LATER: " ".join(names)})

        def compute() -> NewJob:
            caller = Caller(arguments, args, kwargs)
            return replace(job, spec=keyed_late(job.spec, options, names, caller))

        return Link(job, self._convert, check, StepKeys(compute, later))

    def _refuse_strange(self, options: Options, names: Sequence[str]) -> None:
        """Raise for functions that a worker does not have: it has those that are declared."""
        for name in names:
            if getattr(options, name) != getattr(self.definition.options, name):
                raise InvalidOption(
                    f"The {name} of a step of {self.name} into which results flow is computed by "
                    "the worker: declare it with the task, or give it without a function."
                )

    def _job(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NewJob:
        self.definition.arguments.check(args, kwargs)
        return self._encoded(args, kwargs, validate=self.definition.validate)

    def _encoded(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, validate: bool) -> NewJob:
        wire, arguments = self._wire, self.definition.arguments
        codec = wire.codecs.default
        if isinstance(codec, EncryptingCodec):
            return self._encrypted(codec, args, kwargs, validate=validate)
        payload = encode_call(codec, args, kwargs)
        if len(payload) > wire.max_payload:
            raise too_large(f"The arguments of {self.name}", payload, wire.max_payload)
        if validate and not arguments.fits(args, kwargs):
            refuse_misfits(arguments, codec, payload)
        job = self.options.new_job(self.name, payload, codec.name)
        if self.options.keyed:
            job = keyed(job, self.options, Caller(arguments, args, kwargs))
        return with_key_in_new_id(job) if wire.codecs.reads_encrypted else job

    def _encrypted(
        self, codec: Codec, args: tuple[Any, ...], kwargs: dict[str, Any], *, validate: bool
    ) -> NewJob:
        """The job, made before its arguments are written: they are bound to its id."""
        arguments = self.definition.arguments
        job = self.options.new_job(self.name, b"", codec.name)
        if self.options.keyed:
            job = keyed(job, self.options, Caller(arguments, args, kwargs))
        job = with_key_in_id(job)
        payload = encode_call(codec, args, kwargs, job.id, self.name)
        if len(payload) > self._wire.max_payload:
            raise too_large(f"The arguments of {self.name}", payload, self._wire.max_payload)
        if validate and not arguments.fits(args, kwargs):
            refuse_misfits(arguments, codec, payload, id=job.id, task=self.name)
        return replace(job, spec=replace(job.spec, payload=payload))

    def handle(self, id: str) -> JobHandle[R]:
        """The handle of a job of this task that was enqueued before."""
        return self._handle(Receipt(id))

    def _stored(self, jobs: Sequence[NewJob], receipts: Sequence[Receipt]) -> JobHandle[R]:
        self._wire.middleware.after(jobs, receipts)
        handle = self._handle(receipts[0])
        if handle.duplicate and self.options.on_conflict == "raise":
            raise duplicate(jobs[0], receipts[0], [handle])
        return handle

    def _handle(self, receipt: Receipt) -> JobHandle[R]:
        wire = self._wire
        return JobHandle(
            wire.client, wire.codecs, receipt.id, self._convert, receipt.duplicate, self.name
        )

    def _convert(self, value: Any, binary: bool) -> R:
        result: R = self.definition.arguments.result(value, binary=binary)
        return result


Task.using.__doc__ = with_options(
    Task.using.__doc__, (*TaskOptions.__annotations__, *CallOptions.__annotations__)
)


def duplicate(job: NewJob, receipt: Receipt, handles: Sequence[JobHandle[Any]]) -> DuplicateJob:
    """The error for a job that was there before."""
    text = "was there before" if receipt.id == job.id else f"holds its unique key {job.unique!r}"
    return DuplicateJob(
        f"No job of {job.spec.task} was stored: {receipt.id} {text}.",
        id=receipt.id,
        handles=handles,
    )
