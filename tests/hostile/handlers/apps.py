"""The app of these tests: a task for each row of the table, and a plain one beside them."""

import os
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from tests.hostile.handlers import asking, ending, looping, meddling, odd, process, shown
from tests.hostile.handlers.case import DONE, FAILS, Case, Table, on_loop
from windlass import Windlass
from windlass.middleware import Attempt, CallNext, Middleware

AROUND = Table("is surrounded by middleware that")

assert odd.ROWS in ending.TABLES

TABLES = [
    *ending.TABLES,
    *shown.TABLES,
    *asking.TABLES,
    *meddling.TABLES,
    *process.TABLES,
    *looping.TABLES,
    AROUND,
]


@AROUND.row("raises a `BaseException`", FAILS, "Base", on="t")
async def raises(attempt: Attempt, call_next: CallNext) -> NoReturn:
    raise ending.Base


@AROUND.row("catches what the handler raises", DONE, on="t")
async def swallows(attempt: Attempt, call_next: CallNext) -> str:
    try:
        return str(await call_next())
    except BaseException:
        return "well"


@AROUND.row("never calls the handler", DONE, on="t")
async def leaves_out(attempt: Attempt, call_next: CallNext) -> str:
    return "instead"


@AROUND.row("calls the handler twice", FAILS, "ValueError", on="t")
async def repeats(attempt: Attempt, call_next: CallNext) -> None:
    try:
        await call_next()
    except ValueError:
        await call_next()


@AROUND.row("never ends", FAILS, *meddling.LATE, on="t", timeout=meddling.LONG)
async def waits(attempt: Attempt, call_next: CallNext) -> None:
    await meddling.go_on()


@AROUND.row("returns what cannot be encoded", FAILS, "UnencodableValue", "`object`", on="t")
async def returns(attempt: Attempt, call_next: CallNext) -> object:
    return object()


class Around(Middleware):
    """Does what the row of the task says."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = {case.task: case for case in cases}

    async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
        case = self._cases.get(attempt.task)
        return await (call_next() if case is None else case.func(attempt, call_next))


def cases(executor: str, store: str, *, killing: bool = False) -> Iterator[Case]:
    """The rows for one executor, on one store: those that end their worker, or all others."""
    for table in TABLES:
        for case in table:
            if (table is ending.KILLS) == killing and case.is_for(executor, store):
                yield case


def make(url: str, executor: str, store: str, notes: str, rows: str) -> Windlass:
    """The app for one executor; plain jobs note in a file that they ran."""
    app = Windlass(url)

    def plain(number: int) -> int:
        file = os.open(notes, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, f"{number}\n".encode())
        finally:
            os.close(file)
        return number

    declare: Any = app.task
    declare(on_loop(plain) if executor == "a" else plain)
    ours = list(cases(executor, store, killing=rows == "killing"))
    if executor == "t":
        app.add_middleware(Around(case for case in ours if case in AROUND))
    for case in ours:
        case.declare(app, executor, ending.fail if case in AROUND else case.func)
    return app
