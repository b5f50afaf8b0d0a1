"""A row of the table: what a handler does, where it is run, and what its job has to come to.

The row stands above the handler, which is a plain function: a child process has to find it at the
top of its module. A `def` is run on the event loop as well, by an `async def` around it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction, signature
from typing import Any, NamedTuple, TypeVar

from windlass import Windlass
from windlass.core.states import State

EXECUTORS = {"a": "`async def`", "t": "`def`", "p": "`process=True`"}

DONE = State.COMPLETED
FAILS = State.RETRY
"""The attempt failed, and another one follows."""
DEAD = State.DEAD
PARKED = State.SCHEDULED
BACK = State.PENDING
"""Given back by a worker that stops; no attempt was counted."""

F = TypeVar("F", bound=Callable[..., Any])


class Case(NamedTuple):
    """One row. `kind` and `text` are of the error that the job has, if it is to have one."""

    what: str
    on: str
    state: State
    kind: str
    text: str
    func: Callable[..., Any]
    options: dict[str, Any]
    stores: str
    """on which it is like this: "sql", "redis" or "all" """
    task: str

    @property
    def error(self) -> str:
        """How the table of the docs shows it."""
        return f"{self.kind}: {self.text}" if self.text else self.kind

    def is_for(self, executor: str, store: str) -> bool:
        engine = "redis" if store == "redis" else "sql"
        return executor in self.on and self.stores in (engine, "all")

    def declare(self, app: Windlass, executor: str, handler: Callable[..., Any]) -> None:
        """Make a task of its handler, to be run there."""
        func = on_loop(handler) if executor == "a" else handler
        options = {"max_retries": 1, "backoff": 3600, "jitter": 0.0} | self.options
        if "ctx" in signature(handler).parameters:
            options["context"] = True
        if executor == "p":
            options["process"] = True
        declare: Any = app.task
        declare(name=self.task, **options)(func)


class Table(list[Case]):
    """Rows, in the order of the docs; each is added by a decorator."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    def row(
        self,
        what: str,
        state: State,
        kind: str = "",
        text: str = "",
        *,
        on: str = "",
        stores: str = "all",
        **options: Any,
    ) -> Callable[[F], F]:
        """What the handler below does, and what becomes of its job."""

        def add(func: F) -> F:
            executors = on or ("a" if iscoroutinefunction(func) else "atp")
            task = f"{func.__name__}-{len(self)}"
            self.append(Case(what, executors, state, kind, text, func, options, stores, task))
            return func

        return add


def on_loop(func: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The same handler, on the event loop."""
    if asyncio.iscoroutinefunction(func):
        return func

    @wraps(func)
    async def handler(*args: Any) -> Any:
        return func(*args)

    return handler
