"""The app that `windlass worker` runs in these measurements; its store is WINDLASS_URL.

It imports nothing else: its own loading is a part of what is measured.
"""

from __future__ import annotations

import time

from windlass import Windlass


async def moment() -> int:
    # CLOCK_MONOTONIC is the same for all processes of a machine.
    return time.monotonic_ns()


async def nothing(user_id: int, email: str) -> None: ...


def compute(milliseconds: float) -> None:
    """Uses the processor, and the interpreter's lock, for so long."""
    until = time.thread_time() + milliseconds / 1000
    while time.thread_time() < until:
        pass


app = Windlass()
app.task(moment)
app.task(compute)
app.task(nothing)
