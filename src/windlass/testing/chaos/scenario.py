"""The app of a chaos run: handlers that write down what they do."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Final

from ...app import Windlass
from ...core.context import Context
from ...core.retry import Fixed
from .plan import EVERY, QUEUES, SCHEDULE
from .record import Effect, Notebook, Started

FOR_EVER: Final = 10_000 * 86_400
RETRIES: Final = 10
BACKOFF: Final = 0.2
TIMEOUT: Final = 4.0


class Broken(Exception):
    """What a handler raises that fails."""


def make_app(url: str, book: Notebook, node: str, *, ticks: bool = True) -> Windlass:
    """Without `ticks`, the task of the schedule is known and the schedule is not declared."""
    app = Windlass(url)

    @app.task(
        name="play",
        context=True,
        backoff=Fixed(BACKOFF),
        max_retries=RETRIES,
        timeout=TIMEOUT,
        keep=FOR_EVER,
    )
    async def play(context: Context, behaviour: str, seconds: float) -> None:
        job = context.job
        book.write(Started(monotonic(), job.id, job.fence, job.attempt, node))
        if behaviour == "steps":
            context.progress(50)
            await context.acheckpoint(job.attempt)
        if seconds:
            await asyncio.sleep(seconds)
        if behaviour == "hangs" and job.attempt == 1:
            await asyncio.sleep(3_600)
        if behaviour == "fails" or (behaviour == "fails once" and job.attempt == 1):
            raise Broken("as it was asked to")
        book.write(Effect(monotonic(), job.id, job.fence, node))

    @app.task(name="hold", context=True, keep=FOR_EVER)
    async def hold(context: Context) -> None:
        """As a task is by default; its first attempt does not end by itself."""
        job = context.job
        book.write(Started(monotonic(), job.id, job.fence, job.attempt, node))
        if job.attempt == 1:
            await asyncio.sleep(3_600)

    async def hand() -> None:
        await asyncio.sleep(0)

    if ticks:
        app.cron(
            f"@every {EVERY}s",
            name=SCHEDULE,
            missed="all",
            queue=QUEUES[1],
            keep=FOR_EVER,
            backoff=Fixed(BACKOFF),
            max_retries=RETRIES,
        )(hand)
    else:
        app.task(name=SCHEDULE, queue=QUEUES[1], backoff=Fixed(BACKOFF))(hand)
    return app
