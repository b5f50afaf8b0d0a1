"""Bulk cancels of a queue that is worked on: every slot has to come back. A part of `make soak`.

The worker is told of its lost leases in the turn of the loop in which attempts begin and end, as
often as that goes: by a heartbeat it would take many hours until a cancel hits each moment once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from tests.chaos.stop_soak import PLACES
from windlass import Batch, Windlass
from windlass.config import WorkerSettings
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.testing.work import counts, until
from windlass.worker.worker import Worker

SLOTS = 20
TIME = 0.001
"""Seconds that a handler takes."""
MOST_WAITING = 200
"""So many jobs wait at the most: what comes after the last cancel is not to wait for them."""


class Found(NamedTuple):
    """What became of it."""

    cancelled: int
    ended: int
    left: Sequence[str]
    """what is wrong afterwards"""


async def cancel_in_bulk(url: str, seconds: float, least: int = 0) -> Found:
    """Cancel what a worker has in hand for so long, and at least so many jobs.

    Every handler is then to run once more.
    """
    app = Windlass(url)
    ended = 0

    @app.task
    async def awaits(n: int) -> None:
        nonlocal ended
        await asyncio.sleep(TIME)
        ended += 1

    @app.task(timeout=60)
    async def limited(n: int) -> None:
        nonlocal ended
        await asyncio.sleep(TIME)
        ended += 1

    @app.task
    def blocks(n: int) -> None:
        nonlocal ended
        time.sleep(TIME)
        ended += 1

    @app.task(batch=Batch(size=3, grace=0, max_delay=0))
    async def together(items: list[int]) -> None:
        nonlocal ended
        await asyncio.sleep(TIME)
        ended += 1

    tasks: list[Any] = [awaits, limited, blocks, together]
    settings = WorkerSettings(concurrency=SLOTS, threads=SLOTS // 2, log_jobs=0, log_capture="off")
    worker = await app.worker(settings)
    await worker.start()
    try:
        cancelled = await _cancel(app, worker, tasks, time.monotonic() + seconds, least)
        left = await _left(app, worker, tasks)
    finally:
        await worker.stop()
        await app.aclose()
    return Found(cancelled, ended, left)


async def _cancel(
    app: Windlass, worker: Worker, tasks: Sequence[Any], until_then: float, least: int
) -> int:
    store = await app.client.store()
    cancelled = 0

    def is_over() -> bool:
        return time.monotonic() > until_then and cancelled >= least

    async def feed() -> None:
        while not is_over():
            await app.aenqueue_many([task.call(n) for n in range(25) for task in tasks])
            while await _waiting(store) > MOST_WAITING:
                await asyncio.sleep(TIME)

    feeding = asyncio.create_task(feed())
    while not is_over():
        leases = worker._hand.leases
        cancelled += len(await store.cancel([lease.id for lease in leases]))
        for lease in leases:
            worker._lose(lease)
        await asyncio.sleep(0)
    await feeding
    return cancelled


async def _waiting(store: Store) -> int:
    """How many jobs no worker has yet; those of batches are blocked until there is a batch."""
    found = await counts(store)
    return found[State.PENDING] + found[State.BLOCKED]


async def _left(app: Windlass, worker: Worker, tasks: Sequence[Any]) -> list[str]:
    wrong = []
    last = await app.aenqueue_many([task.call(n) for n in range(2 * SLOTS) for task in tasks])
    try:
        for job in last:
            await job.aresult(timeout=60)
        await until(lambda: not (worker.busy or len(worker._hand)), 60)
    except TimeoutError:
        wrong.append(f"{worker.busy} slots are taken, and {len(worker._hand)} jobs in hand")
    if left := worker._runner.claims:
        wrong.append(f"{len(left)} attempts run")
    return wrong


def soak(seconds: float, stores: Sequence[str], console: Console) -> bool:
    """Whether a slot was lost on any of these stores, with so many seconds for each."""
    table = Table(title="Bulk cancels of a queue that is worked on")
    for column in ("store", "cancelled", "ended", "found"):
        table.add_column(column, justify="left" if column in ("store", "found") else "right")
    broken = False
    # Each cancel has its line otherwise.
    logging.getLogger("windlass").setLevel(logging.ERROR)
    for name in stores:
        console.print(f"Cancelling in bulk on {name} for {seconds:.0f} s …")
        with PLACES[name]() as url:
            found = asyncio.run(cancel_in_bulk(url, seconds))
        table.add_row(name, f"{found.cancelled:,}", f"{found.ended:,}", "; ".join(found.left))
        broken = broken or bool(found.left)
    console.print(table)
    return broken
