"""Jobs that were claimed and whose attempts have not begun, as another thread finds them.

While a handler blocks the event loop, its thread changes nothing of all this but what the handler
does. It may go on at any moment, so each step here is one that cannot be seen half done.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress

from ..core.model import Job
from .gathering import Gathering
from .hand import Claim


def popped(backlog: deque[Job | Gathering]) -> list[Job]:
    """What waits for a slot, taken away."""
    jobs: list[Job] = []
    while True:
        try:
            part = backlog.popleft()
        except IndexError:
            return jobs
        jobs += part.jobs if isinstance(part, Gathering) else [part]


def dropped(backlog: deque[Job | Gathering], claim: Claim) -> Job | None:
    """The job of this claim, which does not wait any more; None if it did not."""
    for part in list(backlog):
        jobs = part.jobs if isinstance(part, Gathering) else [part]
        lost = [job for job in jobs if (job.id, job.fence) == claim]
        if not lost:
            continue
        if isinstance(part, Gathering):
            part.drop(claim)
        if not isinstance(part, Gathering) or not part.jobs:
            with suppress(ValueError):  # another thread has taken it away
                backlog.remove(part)
        return lost[0]
    return None


def withheld(running: Mapping[Claim, asyncio.Task[None]], taken: dict[Claim, bool]) -> list[Claim]:
    """The attempts of which not one step was made; none will be, since they are in `taken` now.

    An attempt looks there with its first step. One that begins in this very moment may find itself
    there as False, and is not in the answer: then it gives its job back by itself.
    """
    found = []
    for claim, task in list(running.items()):
        if claim not in taken and is_new(task):
            taken[claim] = False
            if is_new(task):
                taken[claim] = True
                found.append(claim)
    return found


def are_all_cancelled(attempts: Iterable[asyncio.Task[None]]) -> bool:
    """Whether a handler, whose own attempt this is, has cancelled all the others that have begun.

    Some may have been cancelled for another reason, and not have ended yet; hardly ever all.
    """
    mine = asyncio.current_task()
    begun = [task for task in attempts if task is not mine and not is_new(task)]
    return bool(begun) and all([task.cancelling() for task in begun])


def is_new(task: asyncio.Task[None]) -> bool:
    """Whether not one step of an attempt was made."""
    coroutine = task.get_coro()
    return (
        inspect.iscoroutine(coroutine)
        and inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED
    )
