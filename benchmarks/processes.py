"""What a second process brings for tasks that compute."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory

from windlass import State, Windlass

from .command import worker
from .jobs import compute
from .table import Goal, Line, ratio

NUMBER = 3_000
MILLISECONDS = 1.0
CONCURRENCY = 10
LOOK = 0.02


def lines() -> Iterator[Line]:
    yield ratio(
        "two processes, tasks that compute for 1 ms",
        lambda: computed(2),
        lambda: computed(1),
        ("two", "one"),
        Goal("at least", 1.5),
    )


def computed(processes: int) -> float:
    """Jobs per second, by so many processes that are all up when the first job comes."""
    with TemporaryDirectory() as folder:
        app = Windlass(f"sqlite:///{folder}/bench.db")
        task = app.task(compute)
        with worker(app.url, "--processes", str(processes), "--concurrency", str(CONCURRENCY)):
            until(lambda: workers(app) == processes)
            began = time.perf_counter()
            app.enqueue_many(task.call(MILLISECONDS) for _ in range(NUMBER))
            until(lambda: completed(app) == NUMBER)
            seconds = time.perf_counter() - began
        app.close()
        return NUMBER / seconds


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the worker did not do its work within two minutes")
        time.sleep(LOOK)


def workers(app: Windlass) -> int:
    return len(app.client.block(lambda store: store.workers(), "this", "nothing"))


def completed(app: Windlass) -> int:
    queues = app.client.block(lambda store: store.queues(), "this", "nothing")
    return sum(queue.counts.get(State.COMPLETED, 0) for queue in queues)
