"""A producer process of a chaos run: enqueues until SIGTERM, each job until the store has it.

python -m windlass.testing.chaos.producer
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from ...app import Windlass
from ...core.model import Receipt
from ...core.states import State
from ...errors import StoreError, StoreUnavailable
from ...stores.contract import Store
from ...stores.open import open_store
from ...worker.shutdown import stop_on_signals
from .orders import Order, Orders
from .part import seen_by, told
from .plan import Part
from .record import Accepted, Notebook
from .scenario import make_app
from .trap import Trap

BATCHES_PER_SECOND: Final = 8
LARGEST_BATCH: Final = 400
PAUSE: Final = 0.1
LONGEST_LINE: Final = 1_500
"""Where this many jobs wait, no more are made: what is rescued would wait behind them."""


async def produce(part: Part) -> None:
    node = f"{'caller' if part.through else 'producer'}-{os.getpid()}"
    book = Notebook(Path(part.folder, f"{node}.jsonl"))
    app = make_app(part.url, book, node, ticks=False)
    orders = Orders(app, node, part.seed)
    trap = Trap(part.trap, book, node)
    stop = asyncio.Event()
    with stop_on_signals(stop.set):
        store = seen_by(part, await _opened(part, app, stop))
        began, number = monotonic(), 0
        while not stop.is_set():
            # What was not done while the store was slow is not made up for all at once.
            number = max(number, int((monotonic() - began - 1) * part.rate))
            wanted = int((monotonic() - began) * part.rate) - number
            if wanted > 0 and await _waiting(store) > LONGEST_LINE:
                wanted = 0
            batch = orders.draw(min(max(wanted, 0), LARGEST_BATCH), monotonic())
            number += len(batch)
            if batch:
                book.write(*(order.asked for order in batch))
                trap.passed("insert", after=False)
                receipts = await _insisting(store, batch, stop)
                trap.passed("insert", after=True)
                # By its id it was there only because of a call before, whose answer was lost.
                book.write(
                    *(
                        Accepted(monotonic(), order.job.id, receipt.id != order.job.id)
                        for order, receipt in zip(batch, receipts, strict=bool(receipts))
                    )
                )
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 1 / BATCHES_PER_SECOND)
    await app.aclose()


async def _opened(part: Part, app: Windlass, stop: asyncio.Event) -> Store:
    """The store, or the server in front of it as soon as it is there."""
    if not part.through:
        return await app.client.store()
    store = open_store(part.through)
    while not stop.is_set():
        try:
            await store.open()
            break
        except StoreUnavailable:
            await asyncio.sleep(PAUSE)
    return store


async def _waiting(store: Store) -> int:
    try:
        return sum(queue.counts.get(State.PENDING, 0) for queue in await store.queues())
    except StoreUnavailable:
        return 0


async def _insisting(
    store: Store, batch: Sequence[Order], stop: asyncio.Event
) -> Sequence[Receipt]:
    """What the store answers; nothing if it is to stop before that."""
    while not stop.is_set():
        try:
            return await store.insert([order.job for order in batch])
        except StoreError:
            # One that is out of memory refuses, until it is not.
            await asyncio.sleep(PAUSE)
    return ()


if __name__ == "__main__":
    asyncio.run(produce(told()))
