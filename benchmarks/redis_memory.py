"""What a waiting job takes of Redis' memory, and what is left of jobs that are done."""

from __future__ import annotations

from collections.abc import Iterator

from . import redis_floor as floor
from .process import isolated
from .redis_drain import drain_from, fill
from .redis_server import clear, entries, memory, serving
from .table import Goal, Line

JOBS = 100_000
DOUBLED = 140_000
"""Just more than 2 ** 17: Redis' tables have doubled, and most of each is empty."""

FIRST, MORE = 1_000, 20_000


def lines() -> Iterator[Line]:
    with serving() as url:
        yield waiting(url)
        yield left(url)


def waiting(url: str) -> Line:
    ours, doubled = bytes_per_job(url, JOBS), bytes_per_job(url, DOUBLED)
    clear(url)
    before = memory(url)
    isolated(floor.pipelined, url, JOBS)
    other = (memory(url) - before) / JOBS
    return Line(
        "redis: memory for a waiting job",
        ours,
        "bytes",
        f"{JOBS:,} jobs with two small arguments; of {DOUBLED:,} jobs {doubled:.0f} bytes; "
        f"an entry of a stream {other:.0f} bytes",
        Goal("at most", 300),
    )


def bytes_per_job(url: str, number: int) -> float:
    clear(url)
    # The first jobs bring what there is once, scripts for one.
    isolated(fill, url, FIRST)
    before = memory(url)
    isolated(fill, url, number)
    return (memory(url) - before) / number


def left(url: str) -> Line:
    """What so many jobs leave behind that are not to be kept."""
    clear(url)
    found: list[tuple[int, int]] = []
    for number in (FIRST, MORE):
        isolated(fill, url, number, 0)
        isolated(drain_from, url, number)
        found.append((entries(url), memory(url)))
    (before, bytes_before), (after, bytes_after) = found
    return Line(
        f"redis: left of {MORE:,} jobs with keep=0",
        after - before,
        "entries",
        f"{after} in all; {bytes_after - bytes_before:,} bytes",
        Goal("at most", 0),
    )
