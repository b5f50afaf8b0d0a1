"""What notices to workers cost: sixteen processes store single jobs, and a worker keeps up.

Beside the way it is, without any notice, and with a notice in each commit, as a rule of a queue on
PostgreSQL would have it. Commits reach the disk: that is what who notifies waits for with a lock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import uvloop

from tests.servers.postgres import serve
from windlass import Windlass
from windlass.stores.postgres.notifier import Notifier

from .jobs import nothing
from .postgres_server import clear
from .process import SPAWN
from .table import Goal, Line, paired

PRODUCERS = int(os.environ.get("PRODUCERS", "16"))
SECONDS = 3.0
ROUNDS = 3
WAYS = ("as it is", "without", "in each commit")


def lines() -> Iterator[Line]:
    with serve("shared_buffers=512MB", "max_wal_size=4GB", "fsync=on") as server:
        rates = [[rate(server.url, way) for way in WAYS] for _ in range(ROUNDS)]
    yield paired(
        f"postgres: {PRODUCERS} producers of single jobs beside a worker, against no notices",
        [(each[0], each[1]) for each in rates],
        WAYS[:2],
        Goal("at least", 0.8),
    )
    yield Line(
        f"postgres: {PRODUCERS} producers, a notice in each commit",
        median(each[2] for each in rates),
        "/s",
    )


def rate(url: str, way: str) -> float:
    """Jobs per second that all producers store together."""
    clear(url)
    app = Windlass(url)
    app.client.block(lambda opened: opened.ping(), "this", "nothing")
    app.close()
    count = SPAWN.Value("q", 0)
    begin = SPAWN.Event()
    worker = SPAWN.Process(target=serve_jobs, args=(url,), daemon=True)
    worker.start()
    producers = [
        SPAWN.Process(target=produce, args=(url, way, begin, count), daemon=True)
        for _ in range(PRODUCERS)
    ]
    for producer in producers:
        producer.start()
    while count.value < PRODUCERS:
        time.sleep(0.05)
    begin.set()
    for producer in producers:
        producer.join()
    worker.terminate()
    worker.join()
    return (int(count.value) - PRODUCERS) / SECONDS


def serve_jobs(url: str) -> None:
    uvloop.run(_serve_jobs(url))


async def _serve_jobs(url: str) -> None:
    app = Windlass(url)
    app.task(nothing)
    await (await app.worker()).run()
    await app.aclose()


def produce(url: str, way: str, begin: Any, count: Any) -> None:
    told: Any = Notifier
    if way == "without":
        told.is_calm, told.tell = (lambda _: False), (lambda _, queues: None)
    elif way == "in each commit":
        told.is_calm = lambda _: True
    uvloop.run(_produce(url, begin, count))


async def _produce(url: str, begin: Any, count: Any) -> None:
    app = Windlass(url)
    task = app.task(nothing)
    await task.aenqueue(user_id=123, email="a@example.com")
    _add(count, 1)
    begin.wait()
    number = 0
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        await task.aenqueue(user_id=123, email="a@example.com")
        number += 1
    _add(count, number)
    await app.aclose()


def _add(count: Any, number: int) -> None:
    with count.get_lock():
        count.value += number
