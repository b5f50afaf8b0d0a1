"""What a decorated function says of itself, held to what a worker must know."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from .core.arguments import Arguments
from .core.batch import ItemArguments
from .core.context import Context
from .core.model import Job
from .core.name import checked_name
from .core.options import Options
from .core.retry import DEFAULT_RETRY, RetryPolicy
from .errors import InvalidArguments, InvalidOption, shown
from .resources import Need

NO_OPTIONS: Final = Options()
ANY_NUMBER: Final = 50
"""More arguments than a function names that does not take any number."""


class Definition(NamedTuple):
    """What a worker must know of a task: no client, no app."""

    name: str
    func: Callable[..., Any]
    arguments: Arguments
    policy: RetryPolicy
    is_async: bool
    """on the event loop if so, in a thread if not; what a thread returns is awaited if it can be"""
    process: bool = False
    """in a child process instead"""
    batch: bool = False
    """takes a list, of which each item is a job"""
    validate: bool = True
    """whether callers look at the types of arguments, and not only at how many there are"""
    options: Options = NO_OPTIONS
    """those that the task is declared with: some are computed of what flows into a step"""


def checked_validate(value: Any) -> bool:
    """Whether types of arguments are looked at, as a caller says it."""
    if not isinstance(value, bool):
        raise InvalidOption(f"validate is True or False; got {shown(value)}.")
    return value


class DefaultHandler(NamedTuple):
    """What runs the jobs of tasks that an app does not have."""

    definition: Definition
    own: Mapping[str, int | None]
    """what its options say of a job, by the field of the spec, in the place of what the job says"""

    def taking(self, job: Job) -> Job:
        """The job as this handler runs it; what the store has of it stays."""
        return replace(job, spec=replace(job.spec, **self.own)) if self.own else job


def define(
    func: Callable[..., Any],
    name: str | None,
    policy: RetryPolicy,
    *,
    takes_context: bool,
    process: bool = False,
    batch: bool = False,
    validate: bool = True,
) -> Definition:
    """A definition from a decorated function."""
    if not callable(func) or inspect.isclass(func):
        raise InvalidOption("A task is made of a function; decorate a def or an async def.")
    kind = ItemArguments if batch else Arguments
    arguments = kind.of(func, inject=Context, leave_out=Need)
    called = _called(func)
    own_name = getattr(func, "__name__", None) or arguments.name
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        raise InvalidOption(
            f"{own_name} is a generator function, whose body would not run as a job: return a "
            "list, or enqueue a job for each item."
        )
    if arguments.takes_context and not takes_context:
        raise InvalidOption(f"{own_name} takes a Context: say @app.task(context=True).")
    if takes_context and not arguments.takes_context:
        raise InvalidOption(
            f"With context=True the first parameter of {own_name} must be a Context."
        )
    # What a wrapper is, not what it wraps: it may run the function in a way of its own.
    is_async = inspect.iscoroutinefunction(func) or inspect.iscoroutinefunction(called)
    if process:
        _refuse_process(func, arguments, is_async)
    if batch and takes_context:
        raise InvalidOption(
            f"{own_name} takes batches, and a batch has no context: each of its jobs has one."
        )
    if batch and not arguments.takes_one():
        raise InvalidOption(
            f"With batch=… {own_name} must take one parameter, the list, besides resources."
        )
    checked = checked_name(name or own_name, "name of a task")
    return Definition(checked, func, arguments, policy, is_async, process, batch, validate)


def default_handler(
    func: Callable[..., Any],
    policy: RetryPolicy,
    own: Mapping[str, int | None],
    *,
    process: bool = False,
) -> DefaultHandler:
    """A handler of any task; it must take whatever the job of another one brings."""
    definition = define(func, None, policy, takes_context=True, process=process)
    try:
        definition.arguments.check((), {})
        definition.arguments.check((None,) * ANY_NUMBER, {"any name": None})
    except InvalidArguments:
        raise InvalidOption(
            f"{definition.name} is to take the arguments of any task: declare it as "
            f"{definition.name}(context: Context, *args, **kwargs)."
        ) from None
    return DefaultHandler(definition, own)


def _called(func: Callable[..., Any]) -> Callable[..., Any]:
    """What runs when `func` is called: inside of partials, the `__call__` of an object."""
    while isinstance(func, partial):
        func = func.func
    return func if inspect.isroutine(func) else type(func).__call__


def elsewhere(name: str) -> Definition:
    """That of a task whose function lives where the workers are: it takes any arguments."""
    return _anywhere()._replace(name=checked_name(name, "name of a task"))


@cache
def _anywhere() -> Definition:
    def anything(*args: Any, **kwargs: Any) -> Any:
        """Stands for a function that lives where the worker is."""

    return define(anything, None, DEFAULT_RETRY, takes_context=False)


def _refuse_process(func: Callable[..., Any], arguments: Arguments, is_async: bool) -> None:
    """Raise for a function that a child process could not find or run."""
    if is_async:
        raise InvalidOption(
            f"{arguments.name} is an async def, which process=True cannot run; make it a def."
        )
    path = getattr(func, "__qualname__", "<nowhere>")
    if "<" in path or inspect.ismethod(func):
        raise InvalidOption(
            f"With process=True {arguments.name} must be importable: make it a function at the "
            "top of a module."
        )
    for name in arguments.left_out:
        raise InvalidOption(
            f"{name!r} of {arguments.name} is opened in the worker and cannot go to the child "
            "process of process=True; open it in the handler."
        )
