"""Tries a request again and again until it is answered, refused, or patience has ended.

Every call of the contract is safe to repeat.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, TypeVar

from .fault import Fault

T = TypeVar("T")

FIRST_PAUSE: Final = 0.02
LONGEST_PAUSE: Final = 0.25


async def persist(attempt: Callable[[], Awaitable[T | Fault]], patience: float) -> T:
    """The answer of the first attempt that has one, or the error of the last."""
    deadline = monotonic() + patience
    pause, at_once = FIRST_PAUSE, True
    while True:
        answer = await attempt()
        if not isinstance(answer, Fault):
            return answer
        wait = max(answer.after, pause * random.uniform(0.5, 1.0))
        if not answer.passing or monotonic() + wait > deadline:
            raise answer.error
        # A connection that served until now may just have been closed by the other side.
        if not at_once or answer.after:
            await asyncio.sleep(wait)
            pause = min(pause * 1.6, LONGEST_PAUSE)
        at_once = False
