"""The event loop that commands run on: uvloop's where it is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from .daemons import DaemonThreads

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_factory()) as runner:
        runner.get_loop().set_default_executor(DaemonThreads())
        return runner.run(coroutine)


def _factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
