"""The app: where tasks are declared, and the one place where all parts meet."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any, ClassVar, Concatenate, Final, Literal, ParamSpec, TypeVar, Unpack, overload
from weakref import WeakSet

from .admin.schedules import Schedules
from .admin.workflow import WorkflowHandle
from .client import Client
from .config import HistorySettings, WorkerSettings, history_settings
from .core.batch import Batch
from .core.clock import Clock
from .core.codec import MAX_PAYLOAD, Codec, Codecs
from .core.context import Context, current
from .core.cron import timetable
from .core.option_help import with_options
from .core.options import TaskOptions
from .core.rebinding import rebound, scheduled
from .core.schedule import schedule_of
from .core.twins import document_twins
from .core.url import without_secrets
from .declaration import (
    OF_THE_SCHEDULE,
    AsyncFunction,
    AsyncTask,
    BatchDecorator,
    ContextDecorator,
    CronDeclaration,
    CronDecorator,
    Declaration,
    Decorator,
    DefaultDeclaration,
    declared,
    declared_default,
    refuse_of_the_task,
)
from .errors import Forbidden, InvalidOption, UsageError
from .handle import JobHandle
from .history.history import History
from .middleware import Middleware
from .observe.ledger import Ledger
from .producer import Producer, explain
from .resources import Resource, hook, overriding
from .scheduler.upkeep import taking_over, upkeep
from .task import Registry, Task, Wire
from .worker.metering import endpoint, metrics_for
from .worker.worker import Worker

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
H = TypeVar("H", bound=Callable[Concatenate[Context, ...], Any])

DEFAULT_URL = "sqlite:///windlass.db"


class Windlass(Producer):
    """A set of tasks and the store that their jobs go to.

    Making one connects to nothing; the store is opened on first use.

    url: the store, as in sqlite:///jobs.db or redis://localhost/0; without it, WINDLASS_URL, or
        sqlite:///windlass.db in the current folder.
    codec, codecs: how arguments are written, and what else can be read; by default MessagePack.
    max_payload: bytes that the arguments or the result of a job may have; by default 1 MiB.
    clock: a `windlass.testing.FakeClock`, in tests.
    middleware: what goes around every enqueue and every run.
    history: a URL or `HistorySettings`: where finished jobs are kept for search.
    """

    _client_type: ClassVar[type[Client]] = Client
    _registry_type: ClassVar[type[Registry]] = Registry

    def __init__(
        self,
        url: str | None = None,
        *,
        codec: Codec | None = None,
        codecs: Sequence[Codec] = (),
        max_payload: int = MAX_PAYLOAD,
        clock: Clock | None = None,
        middleware: Iterable[Middleware] = (),
        history: str | HistorySettings | None = None,
        validate: bool = True,
    ) -> None:
        """`validate=False`: for tasks that do not say it, callers leave the types of arguments to
        the worker.
        """
        if max_payload < 1:
            raise InvalidOption("max_payload is a number of bytes above 0.")
        self.url = url or os.environ.get("WINDLASS_URL") or DEFAULT_URL
        self.clock = clock
        self._validate = validate
        self._workers: WeakSet[Worker] = WeakSet()
        self.tasks: dict[str, Task[..., Any, Any]] = {}
        self.registry = self._registry_type()
        super().__init__(
            Wire(
                self._client_type(self.url, clock, self.registry.events, explain),
                Codecs(codec, *codecs, limit=max_payload),
                max_payload,
                self.registry.middleware,
                self.registry.overrides,
            ),
            self.registry,
        )
        self.registry.middleware.rebound = partial(rebound, self.codecs)
        self.schedules = Schedules(self._wire, self.registry)
        self.history = History(partial(history_settings, history), clock)
        for each in middleware:
            self.add_middleware(each)

    def __repr__(self) -> str:
        return f"<Windlass {without_secrets(self.url)} with {len(self.registry)} task(s)>"

    @overload
    def task(self, func: AsyncFunction[P, R], /) -> AsyncTask[P, R]: ...
    @overload
    def task(self, func: Callable[P, R], /) -> Task[P, R, R]: ...
    @overload
    def task(
        self, /, *, context: Literal[True], **options: Unpack[Declaration]
    ) -> ContextDecorator: ...
    @overload
    def task(self, /, *, batch: Batch, **options: Unpack[Declaration]) -> BatchDecorator: ...
    @overload
    def task(self, /, **options: Unpack[Declaration]) -> Decorator: ...
    def task(self, func: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """Make a task of a function; with or without parentheses.

        With `context=True` the function's first parameter is a `Context`, which the worker
        fills in and callers leave out. With `batch` it takes a list, and callers give one item.
        """
        if func is not None:
            return self._declare(func, options)
        return lambda func: self._declare(func, options)

    def _declare(self, func: Callable[..., Any], given: Mapping[str, Any]) -> Task[..., Any, Any]:
        definition, options = declared(func, given, validate=self._validate)
        task: Task[..., Any, Any] = Task(definition, options, self._wire)
        self.registry.add(definition, options.queue)
        self.tasks[task.name] = task
        return task

    @overload
    def default(self, func: H, /) -> H: ...
    @overload
    def default(self, /, **options: Unpack[DefaultDeclaration]) -> Callable[[H], H]: ...
    def default(self, func: Any = None, /, **options: Any) -> Any:
        """Have a function run the jobs of all tasks that this app does not have.

        It takes a `Context`, of which `context.job.task` is the task, and the arguments as they
        were enqueued: `handler(context: Context, *args, **kwargs)`. Without it such jobs are given
        back, for a worker that knows their task.
        """
        if func is None:
            return lambda func: self.default(func, **options)
        self.registry.set_default(declared_default(func, options))
        return func

    @overload
    def cron(
        self, text: str, /, *, context: Literal[True], **options: Unpack[CronDeclaration]
    ) -> ContextDecorator: ...
    @overload
    def cron(self, text: str, /, **options: Unpack[CronDeclaration]) -> CronDecorator: ...
    def cron(self, text: str, /, **options: Any) -> Any:
        """Enqueue a task on a schedule. Decorates a function or an existing task.

        Workers put the schedule into the store when they start; `name` is what it is called
        there. What code says wins over what was changed at run time, except for a pause.
        """
        timetable(text, options.get("timezone", "UTC"))
        return lambda func: self._schedule(func, text, options)

    def _schedule(
        self, func: Callable[..., Any], text: str, given: Mapping[str, Any]
    ) -> Task[..., Any, Any]:
        own = {name: given[name] for name in OF_THE_SCHEDULE if name in given}
        rest = {name: given[name] for name in given if name not in (*own, "name")}
        args, kwargs = own.pop("args", ()), own.pop("kwargs", {})
        if isinstance(func, Task):
            refuse_of_the_task(rest)
            task, used = func, func.using(**rest)
        else:
            task = used = self._declare(func, rest)
        name = given.get("name", task.name)
        job = used.call(*args, **kwargs).job
        schedule = scheduled(self.codecs, schedule_of(name, text, job, **own), job)
        self.registry.add_schedule(schedule)
        return task

    def add_middleware(self, middleware: Middleware) -> None:
        """Put a middleware around every enqueue and every run, inside of those added before."""
        self.registry.middleware.add(middleware)

    def on_startup(self, func: F) -> F:
        """Register a function that each worker calls when it starts, before its first job.

        If it raises, the worker does not start.
        """
        self.registry.on_startup.append(hook(func))
        return func

    def on_shutdown(self, func: F) -> F:
        """Register a function that each worker calls when it stops, after its last job.

        Those that were declared last are called first.
        """
        self.registry.on_shutdown.append(hook(func))
        return func

    @overload
    def resource(self, func: Callable[..., AsyncIterator[R]], /) -> Resource[R]: ...
    @overload
    def resource(self, func: Callable[..., Iterator[R]], /) -> Resource[R]: ...
    @overload
    def resource(self, func: AsyncFunction[..., R], /) -> Resource[R]: ...
    @overload
    def resource(self, func: Callable[..., R], /) -> Resource[R]: ...
    def resource(self, func: Callable[..., Any], /) -> Resource[Any]:
        """Make a resource of the function that opens it; handlers ask for it by `Depends`.

        Each worker opens it once, if any of its tasks or hooks needs it. What the function
        yields is the resource; what follows the `yield` closes it.
        """
        return Resource(func)

    def override(self, resource: Resource[R], value: R) -> AbstractContextManager[None]:
        """Within this, let `value` stand for a resource: for tests.

        Holds for workers that start meanwhile, and for tasks that are called directly.
        """
        return overriding(self.registry.overrides, resource, value)

    async def worker(self, settings: WorkerSettings | None = None, *, ticks: bool = True) -> Worker:
        """A worker for this app's tasks on the running event loop, not started yet.

        With `ticks=False` it leaves schedules to others.
        """
        settings = settings or WorkerSettings()
        # First: calls of a store are told only to those who listen when it is opened.
        metrics = metrics_for(self.registry.events) if settings.metrics_port else None
        if settings.tracing:
            from .observe.tracing import trace_app

            trace_app(self.registry.events)
        store = await self.client.store()
        if self.history.is_kept:
            # Behind a server it is the server that keeps it, unless the key is an admin's.
            with suppress(Forbidden):
                await store.keep_journal(True)
        ledger = Ledger(self.registry)
        limit = self._wire.max_payload
        connect = self.client.private_store
        worker = Worker(self.registry, self.codecs, store, settings, (), limit, connect, ledger)
        services = upkeep(
            store, self.registry, settings, self.history, ledger, ticks=ticks, holder=worker.id
        )
        worker.keep_up(services, taking_over(services))
        self._workers.add(worker)
        if metrics is not None:
            worker.endpoint = endpoint(settings, metrics.figures, worker.fault, worker.due)
        return worker

    async def aclose(self) -> None:
        """Close what async code on this event loop used; not for handlers, while a worker works."""
        if current.get(None) is not None and any(each.works_here() for each in self._workers):
            raise UsageError(
                "A handler cannot close the app: its worker works with what that would close."
            )
        await self.client.aclose()
        await self.history.aclose()

    def close(self) -> None:
        """Close what blocking code used."""
        self.client.close()
        self.history.close()


_TASK: Final = (*TaskOptions.__annotations__, *Declaration.__annotations__, "context", "batch")
Windlass.task.__doc__ = with_options(Windlass.task.__doc__, _TASK)
Windlass.cron.__doc__ = with_options(
    Windlass.cron.__doc__, {*_TASK, *CronDeclaration.__annotations__} - {"batch"}
)
document_twins(Producer, JobHandle, WorkflowHandle)
