"""A worker process of a chaos run, with its scheduler and rescuer; or a supervisor of such.

python -m windlass.testing.chaos.worker
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from random import Random

from ...app import Windlass
from ...config import WorkerSettings
from ...scheduler.upkeep import taking_over, upkeep
from ...stores.contract import Store
from ...worker.shutdown import stop_on_signals
from ...worker.supervisor import Supervisor
from ...worker.supervisor.tether import Tether, tether
from ...worker.worker import Worker
from .door import enter
from .part import seen_by, told
from .plan import QUEUES, Part
from .record import Notebook
from .recorder import recorded
from .scenario import make_app
from .trap import Trap, kill_self


def main() -> None:
    part, line = told(), tether()
    settings = settings_of(part)
    if line is None and settings.is_supervised:
        asyncio.run(_supervise(settings))
        return
    # Held until this process ends.
    door = enter(Path(part.folder)) if line is not None else None
    if line is not None and door is None:
        return
    node = f"worker-{os.getpid()}"
    book = Notebook(Path(part.folder, f"{node}.jsonl"))
    if part.skew:
        skew(part.skew)
    asyncio.run(_work(part, settings, node, book, line))


async def _supervise(settings: WorkerSettings) -> None:
    await Supervisor(settings).run()


def settings_of(part: Part) -> WorkerSettings:
    return WorkerSettings(
        queues=QUEUES,
        concurrency=part.concurrency,
        lease=part.lease,
        rescue_interval=min(part.lease / 4, 1.0),
        shutdown_timeout=2.0,
        processes=part.processes,
    )


def skew(seconds: float) -> None:
    """Have the clock of this process be off. The store's clock must decide."""
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + seconds
    time.time_ns = lambda: now_ns() + int(seconds * 1e9)


async def _work(
    part: Part, settings: WorkerSettings, node: str, book: Notebook, line: Tether | None
) -> None:
    app = make_app(part.url, book, node, ticks=part.ticks)
    trap = Trap(part.trap, book, node)
    stop = asyncio.Event()
    try:

        def see(store: Store) -> Store:
            return recorded(seen_by(part, store), book, node, trap)

        worker = await _made(app, settings, see)
        with stop_on_signals(stop.set):
            await worker.start()
            if part.lifetime and line is not None:
                lifetime = Random(part.seed + os.getpid()).expovariate(1 / part.lifetime)
                asyncio.get_running_loop().call_later(lifetime, kill_self, book, node)
            held = line.held(worker, settings, None, None, stop.set) if line else None
            async with held or nullcontext():
                await stop.wait()
                await worker.stop()
    finally:
        await app.aclose()


async def _made(app: Windlass, settings: WorkerSettings, see: Callable[[Store], Store]) -> Worker:
    """As the app makes its worker, on a store that writes down what is finished."""
    store = see(await app.client.store())

    @asynccontextmanager
    async def connect() -> AsyncIterator[Store]:
        async with app.client.private_store() as private:
            yield see(private)

    worker = Worker(app.registry, app.codecs, store, settings, connect=connect)
    services = upkeep(store, app.registry, settings, holder=worker.id)
    worker.keep_up(services, taking_over(services))
    return worker


if __name__ == "__main__":
    main()
