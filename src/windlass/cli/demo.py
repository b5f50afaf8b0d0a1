"""`windlass demo`: a worker, a small shop and a view on both, in one process."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections import Counter
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple
from urllib.parse import quote

import click

from ..admin.listing import list_jobs
from ..app import Windlass
from ..config import WorkerSettings
from ..core.model import JobQuery
from ..core.states import LIVE, State
from ..stores.contract import Store
from .demo_shop import EXPECTED, Tally, app, open_for_business
from .demo_view import View, print_introduction, print_summary
from .loop import run
from .refusal import Refusal
from .target import move

LOOK: Final = 0.1
LONGEST: Final = 25.0


class Finished(NamedTuple):
    """What a run of the demo came to."""

    tallies: Mapping[str, Tally]
    seconds: float


@click.command()
def demo() -> None:
    """See a small shop at work: quick, slow, failing, delayed and dead jobs, on SQLite.

    Needs no server, takes a few seconds, and leaves nothing behind. Its tasks are in
    windlass/cli/demo_shop.py.
    """
    _end_as_by_ctrl_c()
    # What fails does so on purpose, and the summary tells of it.
    logging.getLogger("windlass").setLevel(logging.CRITICAL)
    print_introduction(sum(tally.jobs for tally in EXPECTED.values()))
    with TemporaryDirectory(prefix="windlass-demo-") as folder:
        move(app, f"sqlite:///{quote(folder)}/shop.db")
        open_for_business()
        app.close()
        finished = run(_work(app, sum(tally.jobs for tally in EXPECTED.values())))
    print_summary(finished.tallies, finished.seconds)
    compare(finished.tallies, EXPECTED)


def _end_as_by_ctrl_c() -> None:
    """Whatever signal ends the demo, its folder is removed."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))


async def _work(app: Windlass, total: int) -> Finished:
    settings = WorkerSettings(queues=("default", "warehouse"), concurrency=16, shutdown_timeout=1)
    try:
        store = await app.client.store()
        worker = await app.worker(settings)
        began = time.monotonic()
        await worker.start()
        try:
            with View(total) as view:
                await _watch(store, view, began)
        finally:
            seconds = time.monotonic() - began
            await worker.stop()
        return Finished(await tally(store), seconds)
    finally:
        await app.aclose()


async def _watch(store: Store, view: View, began: float) -> None:
    """Show how it goes until nothing is left to do."""
    while True:
        counts: Counter[State] = Counter()
        for queue in await store.queues():
            counts.update(queue.counts)
        elapsed = time.monotonic() - began
        view.show(counts, elapsed)
        if not any(counts[state] for state in LIVE):
            return
        if elapsed > LONGEST:
            left = ", ".join(f"{counts[state]} {state}" for state in sorted(LIVE))
            raise Refusal(f"The demo was not done after {LONGEST:g} s: {left}.")
        await asyncio.sleep(LOOK)


async def tally(store: Store) -> Mapping[str, Tally]:
    """What the jobs of each task came to."""
    tallies: dict[str, Tally] = {}
    for job in (await list_jobs(store, JobQuery(limit=100_000))).jobs:
        one = Tally(
            1, job.state is State.COMPLETED, job.state is State.DEAD, max(job.attempt - 1, 0)
        )
        tallies[job.task] = tallies.get(job.task, Tally()) + one
    return tallies


def compare(found: Mapping[str, Tally], expected: Mapping[str, Tally]) -> None:
    """Refuse a run that did not come to what is known beforehand."""
    for task, wanted in expected.items():
        if found.get(task) != wanted:
            raise Refusal(f"{task} should have come to {wanted}, and came to {found.get(task)}.")
