"""What `@app.task(…)` and `@app.cron(…)` take, how they are typed, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from typing import (
    Any,
    Concatenate,
    Final,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    overload,
)

from .core.batch import checked_batch
from .core.context import Context
from .core.cron import Missed
from .core.options import JobOptions, Options, TaskOptions
from .core.retry import BackoffLike, RetryPolicy, as_backoff
from .core.schedule import Overlap
from .definition import (
    DefaultHandler,
    Definition,
    checked_validate,
    default_handler,
    define,
)
from .errors import InvalidOption
from .task import Task

P = ParamSpec("P")
X = TypeVar("X")
C = TypeVar("C")
R = TypeVar("R")
AsyncFunction: TypeAlias = Callable[P, Coroutine[Any, Any, R]]
AsyncTask: TypeAlias = Task[P, Coroutine[Any, Any, R], R]

ErrorTypes = type[BaseException] | tuple[type[BaseException], ...]


class Declaration(TaskOptions, total=False):
    """What `@app.task(…)` takes."""

    name: str
    process: bool
    validate: bool
    backoff: BackoffLike
    jitter: float
    retry_on: ErrorTypes
    fatal_on: ErrorTypes


class DefaultDeclaration(TypedDict, total=False):
    """What `@app.default(…)` takes. What it says of a job holds in the place of the job's own."""

    max_retries: int
    timeout: float | timedelta | None
    process: bool
    backoff: BackoffLike
    jitter: float
    retry_on: ErrorTypes
    fatal_on: ErrorTypes


class CronDeclaration(Declaration, total=False):
    """What `@app.cron(…)` takes besides the expression. `name` is that of the schedule."""

    timezone: str
    missed: Missed
    overlap: Overlap
    args: Sequence[Any]
    kwargs: Mapping[str, Any]


OF_THE_SCHEDULE: Final = (*CronDeclaration.__annotations__.keys() - Declaration.__annotations__,)
OF_ONE_JOB: Final = (
    *(name for name in JobOptions.__annotations__ if name not in TaskOptions.__annotations__),
    "connection",
)


class Decorator(Protocol):
    """`@app.task(…)`: keeps the function's own signature."""

    @overload
    def __call__(self, func: AsyncFunction[P, R], /) -> AsyncTask[P, R]: ...
    @overload
    def __call__(self, func: Callable[P, R], /) -> Task[P, R, R]: ...


class ContextDecorator(Protocol):
    """`@app.task(context=True, …)`: callers leave the first parameter out."""

    @overload
    def __call__(self, func: AsyncFunction[Concatenate[Context, P], R], /) -> AsyncTask[P, R]: ...
    @overload
    def __call__(self, func: Callable[Concatenate[Context, P], R], /) -> Task[P, R, R]: ...


class BatchDecorator(Protocol):
    """`@app.task(batch=…)`: callers give one item, and get what the handler returns for that."""

    @overload
    def __call__(
        self, func: Callable[[list[X]], Coroutine[Any, Any, None]], /
    ) -> Task[[X], Coroutine[Any, Any, None], None]: ...
    @overload
    def __call__(
        self, func: Callable[[list[X]], Coroutine[Any, Any, Sequence[R | Exception]]], /
    ) -> Task[[X], Coroutine[Any, Any, Sequence[R | Exception]], R]: ...
    @overload
    def __call__(self, func: Callable[[list[X]], None], /) -> Task[[X], None, None]: ...
    @overload
    def __call__(
        self, func: Callable[[list[X]], Sequence[R | Exception]], /
    ) -> Task[[X], Sequence[R | Exception], R]: ...


class CronDecorator(Protocol):
    """`@app.cron(…)`: makes a task of a function; a task stays what it is."""

    @overload
    def __call__(self, func: Task[P, C, R], /) -> Task[P, C, R]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, func: AsyncFunction[P, R], /) -> AsyncTask[P, R]: ...
    @overload
    def __call__(self, func: Callable[P, R], /) -> Task[P, R, R]: ...


def declared(
    func: Callable[..., Any], given: Mapping[str, Any], *, validate: bool = True
) -> tuple[Definition, Options]:
    """A task's definition and its options, from what the decorator was given.

    `validate` holds for a task that does not say it.
    """
    rest = dict(given)
    name, context = rest.pop("name", None), rest.pop("context", False)
    process, batch = rest.pop("process", False), checked_batch(rest.pop("batch", None))
    policy = _policy(rest)
    for option in OF_ONE_JOB:
        if option in rest:
            raise InvalidOption(f"{option} is for one job; give it to using(…).")
    validate = rest.pop("validate", validate)
    definition = define(
        func,
        name,
        policy,
        takes_context=context,
        process=process,
        batch=batch is not None,
        validate=checked_validate(validate),
    )
    options = Options(batch=batch).merged(rest)
    return definition._replace(options=options), options


def declared_default(func: Callable[..., Any], given: Mapping[str, Any]) -> DefaultHandler:
    """The handler of unknown tasks, from what the decorator was given."""
    for option in given:
        if option not in DefaultDeclaration.__annotations__:
            known = ", ".join(DefaultDeclaration.__annotations__)
            raise InvalidOption(f"A default handler has no option {option}: known are {known}.")
    rest = dict(given)
    process, policy = rest.pop("process", False), _policy(rest)
    options = Options().merged(rest)
    own = {name: getattr(options, name) for name in rest}
    return default_handler(func, policy, own, process=process)


def refuse_of_the_task(given: Mapping[str, Any]) -> None:
    """Raise for what a schedule of a task that is there cannot change about it."""
    for option in given:
        if option in Declaration.__annotations__ and option not in TaskOptions.__annotations__:
            raise InvalidOption(f"{option} is for the whole task; give it to @app.task(…).")


def _policy(options: dict[str, Any]) -> RetryPolicy:
    """Take the retry rules out of a declaration's options."""
    rules: dict[str, Any] = {}
    if "backoff" in options:
        rules["backoff"] = as_backoff(options.pop("backoff"))
    if "jitter" in options:
        rules["jitter"] = options.pop("jitter")
    for rule in ("retry_on", "fatal_on"):
        if rule in options:
            rules[rule] = _error_types(rule, options.pop(rule))
    return RetryPolicy(**rules)


def _error_types(rule: str, given: ErrorTypes) -> tuple[type[BaseException], ...]:
    types = given if isinstance(given, tuple) else (given,)
    if not all(isinstance(each, type) and issubclass(each, BaseException) for each in types):
        raise InvalidOption(f"{rule} takes an exception class or a tuple of them.")
    return types
