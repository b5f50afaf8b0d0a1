"""Event loops that end: in good order, without any, or not at all."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

log = logging.getLogger("windlass")

Loop: TypeAlias = asyncio.AbstractEventLoop

LEAVING: Final = 5.0
"""Seconds that closing what a closed event loop has left may take."""

OURS: Final = "windlass"
"""The name of tasks that end by themselves: with these alone an event loop is idle."""


def at_end(act: Callable[[], Awaitable[None]]) -> AsyncGenerator[None]:
    """Have something done before the running event loop ends; closing this does it at once.

    `asyncio.run` and its like first cancel all tasks, then close the asynchronous generators of
    the loop, and wait for what is in their `finally`.
    """

    async def until_then() -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await act()

    generator = until_then()
    with suppress(StopIteration):  # it has come to its `yield`, and the loop knows of it
        generator.asend(None).send(None)
    return generator


def hang_up(loop: Loop) -> None:
    """Close the sockets of a closed event loop, which cannot do it any more.

    Until then they are open to the server: a transaction that was cut off holds its locks.
    """
    for transport in list(getattr(loop, "_transports", {}).values()):
        connection, transport._sock = transport._sock, None
        if connection is not None:
            # Or what drivers still write would be an error that the loop tells of.
            transport._closing, transport._conn_lost = True, 1
            connection.close()


def may_be_left(task: asyncio.Task[Any]) -> None:
    """Have nobody told if its event loop ends before it does."""
    task._log_destroy_pending = False  # type: ignore[attr-defined]


def drop(task: asyncio.Task[Any]) -> None:
    """Let go of a task of a closed event loop, which nobody can run any more."""
    may_be_left(task)
    # Drivers cannot clean up without their loop, and what they say then helps nobody.
    with suppress(Exception):
        task.get_coro().close()


def is_idle(loop: Loop) -> bool:
    """Whether an event loop does not run and has nothing to go on with but what ends by itself."""
    if loop.is_running() or loop.is_closed():
        return False
    return all(task.get_name() == OURS for task in asyncio.all_tasks(loop))


def run_once_more(loop: Loop, end: AsyncGenerator[None]) -> None:
    """Run a loop that nobody runs until what is due at its end is done."""
    try:
        loop.run_until_complete(end.aclose())
    except Exception as error:
        log.debug("what an event loop has left was not closed: %s", error)
