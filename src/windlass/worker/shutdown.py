"""Signals: the first asks for a graceful stop, the second ends the process at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGINT or SIGTERM; on a second one exit, and let leases recover the jobs."""
    loop = asyncio.get_running_loop()
    seen = False

    def on_signal(number: int) -> None:
        nonlocal seen
        if seen:
            os._exit(128 + number)
        seen = True
        stop()

    for number in SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
