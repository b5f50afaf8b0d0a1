"""Handlers that tests run in child processes.

Each child imports this module, so it imports nothing that takes long: a test module would bring
pytest, and a child would spend more time on that than on its handler.
"""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windlass import Context, Fatal, Retry, SignalTimeout, Snooze, current_context


@dataclass
class Point:
    x: int
    y: int


class Picky(ConnectionError):
    """Cannot be made again from its args, as pickle tries to."""

    def __init__(self, host: str, *, port: int) -> None:
        super().__init__(f"{host}:{port}")
        self.port = port


def mirrored(point: Point, *, factor: int = 1) -> Point:
    return Point(point.y * factor, point.x * factor)


async def _doubled(number: int) -> int:
    return 2 * number


def wrapped_double(number: int) -> Coroutine[Any, Any, int]:
    return _doubled(number)


def pid() -> int:
    return os.getpid()


_kept: list[bytes] = []


def keeping(mebibytes: int) -> int:
    """Leaks so much; zeros would take no memory."""
    _kept.append(b"x" * (mebibytes << 20))
    return os.getpid()


def about(ctx: Context, text: str) -> list[object]:
    same = current_context() is ctx
    return [ctx.id, ctx.attempt, ctx.fence, ctx.job.task, text, same]


def anything(context: Context, *args: Any, **kwargs: Any) -> list[Any]:
    return [context.job.task, *args]


def climbing(ctx: Context) -> None:
    for percent in (0, 50, 100):
        ctx.progress(percent, f"at {percent}")


def failing(kind: str) -> None:
    class Local(ConnectionError): ...

    errors: dict[str, BaseException] = {
        "plain": ValueError("plain words"),
        "picky": Picky("db", port=5432),
        "local": Local("nobody can import me"),
        "exit": SystemExit(3),
        "snooze": Snooze(3600),
        "retry": Retry("soon", after=1800),
        "fatal": Fatal("never"),
    }
    raise errors[kind]


def dying(how: str) -> None:
    if how == "exit":
        os._exit(7)
    os.kill(os.getpid(), signal.Signals[how])
    time.sleep(3600)


def unpicklable() -> object:
    return lambda: None


def sleeping(note: str) -> None:
    Path(note).write_text(str(os.getpid()), "ascii")
    try:
        time.sleep(3600)
    finally:
        Path(note).unlink()


def slow(note: str) -> str:
    """Says that it runs, and waits until it is told to go on."""
    mine = Path(note)
    mine.write_text("running", "ascii")
    while mine.exists():
        time.sleep(0.005)
    return "done"


def increased(numbers: list[int]) -> list[int]:
    """Takes a batch."""
    return [number + len(numbers) for number in numbers]


# -- checkpoints ---------------------------------------------------------------------------------


def count_up(ctx: Context) -> list[int]:
    done: list[int] = ctx.state or []
    ctx.checkpoint([*done, ctx.attempt])
    if ctx.attempt < 3:
        raise Retry(after=0)
    return [*done, ctx.attempt]


def large(ctx: Context) -> None:
    ctx.checkpoint(b"x" * 1000)


def odd(ctx: Context) -> None:
    ctx.checkpoint(1j)


def crowd(ctx: Context) -> bool:
    if ctx.state is not None:
        return ctx.state in range(40)

    def keep(first: int) -> None:
        for number in range(first, first + 10):
            ctx.checkpoint(number)

    threads = [threading.Thread(target=keep, args=[first]) for first in (0, 10, 20, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    raise Retry(after=0)


# -- signals -------------------------------------------------------------------------------------


def approve(ctx: Context, key: str) -> Any:
    return [ctx.attempt, ctx.wait_for("approved")]


def approve_in_time(ctx: Context) -> str:
    try:
        return f"yes: {ctx.wait_for('approved', timeout=60)}"
    except SignalTimeout as error:
        return f"no: {error}"


def in_a_loop(ctx: Context) -> None:
    asyncio.run(ctx.await_for("x"))
