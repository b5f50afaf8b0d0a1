"""How quickly workers run tasks that do nothing from Redis, and what each job costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import uvloop

from windlass import Windlass
from windlass.testing.work import until

from . import redis_floor as floor
from .command import worker as command
from .jobs import nothing
from .process import isolated
from .processes import completed, workers
from .processes import until as wait_until
from .redis_cost import Cost, Meter, compared, typical
from .redis_server import clear, serving
from .table import Goal, Line, ratio

NUMBER = 50_000
BLOCKING = 20_000
BATCH = 1_000
WORKER_BUDGET = 20 / 7
REDIS_BUDGET = 12 / 3
"""20 and 12 µs where redis-py takes 7 and 3: a slower machine is slower for both."""


def lines() -> Iterator[Line]:
    with serving() as url:
        yield from _one_worker(url)
        yield ratio(
            "redis: drain, two processes",
            lambda: commanded(url, 2),
            lambda: commanded(url, 1),
            ("two", "one"),
            Goal("at least", 1),
            rounds=3,
        )
        yield compared(
            "redis: drain through threads",
            lambda: whole(url, BLOCKING, blocking=True),
            lambda: isolated(floor.whole, url, NUMBER),
            Goal("at least", 0.2),
            rounds=3,
        )[0]


def _one_worker(url: str) -> Iterator[Line]:
    line, ours, other = compared(
        "redis: drain, one worker",
        lambda: whole(url, NUMBER),
        lambda: isolated(floor.whole, url, NUMBER),
        Goal("at least", 0.5),
    )
    unkept = typical([whole(url, NUMBER, keep=0) for _ in range(3)])
    yield line._replace(detail=f"{line.detail}; with keep=0 {unkept.rate:,.0f}/s")
    yield Line(
        "redis: worker's processor time for a job",
        ours.python / other.python,
        "×",
        f"windlass {ours.python:.1f} µs, redis-py {other.python:.1f} µs, "
        f"with keep=0 {unkept.python:.1f} µs",
        Goal("at most", WORKER_BUDGET),
    )
    yield Line(
        "redis: Redis' processor time for a job",
        ours.redis / other.redis,
        "×",
        f"enqueue, claim and finish: windlass {ours.redis:.1f} µs, redis-py "
        f"{other.redis:.1f} µs, with keep=0 {unkept.redis:.1f} µs",
        Goal("at most", REDIS_BUDGET),
    )


def whole(url: str, number: int, keep: float | None = None, *, blocking: bool = False) -> Cost:
    """What draining cost; what it cost Redis includes the enqueueing before.

    Jobs are kept as long as by default unless `keep` says otherwise.
    """
    clear(url)
    filled = isolated(fill, url, number, keep)
    drained = isolated(drain_from, url, number, blocking)
    return drained._replace(redis=filled.redis + drained.redis)


def fill(url: str, number: int, keep: float | None = None, delay: float = 0) -> Cost:
    app = Windlass(url)
    task = app.task(nothing)
    options: dict[str, Any] = {"delay": delay} if keep is None else {"delay": delay, "keep": keep}
    made = task.using(**options)
    app.enqueue_many([])
    meter = Meter(url)
    for start in range(0, number, BATCH):
        size = min(BATCH, number - start)
        app.enqueue_many([made.call(user_id=123, email="a@example.com") for _ in range(size)])
    cost = meter.cost(number)
    app.close()
    return cost


def drain_from(url: str, number: int, blocking: bool = False) -> Cost:
    """Until so many have run and the store has all that was run."""
    return uvloop.run(_drain_from(url, number, blocking))


async def _drain_from(url: str, number: int, blocking: bool) -> Cost:
    app = Windlass(url)
    ran: list[int] = []

    async def run(user_id: int, email: str) -> None:
        ran.append(user_id)

    def run_in_thread(user_id: int, email: str) -> None:
        ran.append(user_id)

    app.task(name=nothing.__name__)(run_in_thread if blocking else run)
    worker = await app.worker()
    meter = Meter(url)
    await worker.start()
    await until(lambda: len(ran) >= number, 120)
    await worker.stop()
    cost = meter.cost(len(ran))
    await app.aclose()
    return cost


def commanded(url: str, processes: int) -> float:
    """Jobs per second, by so many processes that are all up when the queue is let go."""
    clear(url)
    isolated(fill, url, NUMBER)
    app = Windlass(url)
    app.client.block(lambda store: store.pause("default"), "this", "nothing")
    with command(url, "--processes", str(processes)):
        wait_until(lambda: workers(app) == processes)
        app.client.block(lambda store: store.resume("default"), "this", "nothing")
        began = time.perf_counter()
        wait_until(lambda: completed(app) == NUMBER)
        seconds = time.perf_counter() - began
    app.close()
    return NUMBER / seconds
