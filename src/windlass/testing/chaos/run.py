"""A chaos run: real processes on a real store, hurt for a while, and what they left judged."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from random import Random, SystemRandom
from time import monotonic
from typing import Final

import msgspec

from ...core.model import Job, JobQuery
from ...core.states import FINISHED, State
from ...errors import StoreUnavailable
from ...stores.contract import Store
from ...stores.open import open_store
from ..place import private
from .crew import Crew
from .history import History
from .plan import EVERY, LIMIT, QUEUES, SCHEDULE, ChaosPlan
from .record import Notebook, Outcome, read
from .rules import left_out
from .trouble import StoreHarm, Trouble
from .verdict import Verdict, judge

LOOK: Final = 0.2
LONG_LOOK: Final = 1.0
"""At all jobs, for a tick that may take long."""
TICKS: Final = {SCHEDULE: EVERY}
HEALTHY: Final = 2
"""How many workers finish what is left."""


async def run(
    url: str,
    plan: ChaosPlan | None = None,
    harms: Sequence[StoreHarm] = (),
    keep: Callable[[History], None] | None = None,
) -> Verdict:
    """Let processes work in a private place on the server of `url`, and hurt them.

    The store itself is hurt only by `harms`, which are the caller's. Nothing is left behind, but
    for what `keep` does with the history.
    """
    plan = plan or ChaosPlan()
    chance = Random(plan.seed or SystemRandom().randrange(2**32))
    async with private(url) as place:
        with tempfile.TemporaryDirectory(prefix="windlass-chaos-") as folder:
            began = monotonic()
            history = await _run(place, Path(folder), plan, chance, harms)
            seconds = monotonic() - began
    if keep is not None:
        keep(history)
    return judge(seconds, history.events, history.outcome, forgets=plan.forgets)


async def _run(
    url: str, folder: Path, plan: ChaosPlan, chance: Random, harms: Sequence[StoreHarm]
) -> History:
    store = open_store(url)
    await store.open()
    crew = Crew(url, folder, plan, chance, Notebook(folder / "harness.jsonl"))
    trouble = Trouble(crew, plan, chance, harms)
    try:
        await _begun(trouble, store, folder if crew.has_server else None, plan.patience)
        await trouble.run()
        await _heal(crew, store)
        outcome = await _outcome(store, plan)
    finally:
        # Those who still work end in good order: the place is about to go.
        await asyncio.to_thread(crew.dismiss, list(crew.members))
        crew.close()
        await store.close()
    books = await asyncio.to_thread(lambda: list(folder.glob("*.jsonl")))
    return History(read(books), outcome)


async def _begun(trouble: Trouble, store: Store, folder: Path | None, patience: float) -> None:
    """Wait until jobs are run, and the server has taken some, whose callers write into `folder`:
    nothing is proved by hurting those who have not started. Some die of their traps before."""
    until = monotonic() + patience
    while monotonic() < until:
        trouble.tend()
        is_served = folder is None or await asyncio.to_thread(_is_served, folder)
        if is_served and any(queue.counts.get(State.COMPLETED) for queue in await store.queues()):
            return
        await asyncio.sleep(LOOK)
    raise StoreUnavailable("No job was run: the store is too slow, or no process could start.")


def _is_served(folder: Path) -> bool:
    return any(b'"accepted"' in path.read_bytes() for path in folder.glob("caller-*.jsonl"))


async def _heal(crew: Crew, store: Store) -> None:
    """Put healthy workers in the place of all others, and let the schedule end."""
    hurt = list(crew.members)
    for _ in range(HEALTHY):
        crew.start("worker", healthy=True)
    await asyncio.to_thread(crew.dismiss, hurt)
    await asyncio.to_thread(crew.shut_out)
    await _insisting(store)


async def _insisting(store: Store) -> None:
    while True:
        try:
            await store.drop_schedules([SCHEDULE])
            return
        except StoreUnavailable:
            await asyncio.sleep(LOOK)


async def _quiet(store: Store, patience: float, over: Container[State]) -> None:
    """Wait until no job is left that could still do something, or for too long."""
    until = monotonic() + patience
    while monotonic() < until:
        try:
            queues = await store.queues()
        except StoreUnavailable:
            await asyncio.sleep(LOOK)
            continue
        if not any(n for queue in queues for s, n in queue.counts.items() if s not in over):
            return
        await asyncio.sleep(LOOK)


async def _outcome(store: Store, plan: ChaosPlan) -> Outcome:
    """What there is when all is quiet.

    On Redis a tick may come late, half a minute after its scheduler died between two steps. So one
    that is left out is waited for, and what changes during the look is looked at again.
    """
    schedules = {} if plan.forgets else TICKS
    # What a job waits for may be forgotten, in another part of the store than the job.
    over = FINISHED | {State.BLOCKED} if plan.forgets else FINISHED
    until = monotonic() + plan.patience
    while True:
        await _quiet(store, plan.patience, over)
        before, jobs, after = await store.queues(), await _jobs(store), await store.queues()
        is_late = any(left_out([job.id for job in jobs], schedules))
        if (before == after and not is_late) or monotonic() > until:
            return Outcome(jobs, after, dict.fromkeys(QUEUES, LIMIT), schedules)
        await asyncio.sleep(LONG_LOOK if is_late else LOOK)


async def _jobs(store: Store) -> Sequence[Job]:
    jobs: list[Job] = []
    query = JobQuery(limit=1_000)
    while True:
        page = await store.find(query)
        jobs += page.jobs
        if page.cursor is None:
            return jobs
        query = msgspec.structs.replace(query, cursor=page.cursor)
