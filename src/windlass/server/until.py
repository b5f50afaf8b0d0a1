"""Going on with something until it, or something else, ends."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any


async def until(ends: Sequence[asyncio.Future[Any]], doing: Coroutine[Any, Any, None]) -> None:
    """Go on with something in the running task until it, or one of the others, ends."""
    is_over = False

    def end(_: object) -> None:
        if not is_over and not bound.expired():
            bound.reschedule(0)

    for each in ends:
        each.add_done_callback(end)
    try:
        async with asyncio.timeout(None) as bound:
            await doing
    except TimeoutError:
        if not bound.expired():
            raise
    finally:
        is_over = True
        for each in ends:
            each.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
