"""What a stretch of work came to: its rate, and what it took of both processors."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from redis import Redis

from .redis_server import processor
from .table import Goal, Line, ratio


class Cost(NamedTuple):
    """Jobs per second, and microseconds of processor time for each of them."""

    rate: float
    python: float
    redis: float


class Meter:
    """Counts from its making to `cost`, for this process with all of its threads."""

    def __init__(self, url: str) -> None:
        self._redis = Redis.from_url(url)
        self._used = processor(self._redis)
        self._cpu = time.process_time()
        self._began = time.perf_counter()

    def cost(self, number: int) -> Cost:
        seconds = time.perf_counter() - self._began
        cpu = time.process_time() - self._cpu
        used = processor(self._redis) - self._used
        self._redis.close()
        return Cost(number / seconds, 1e6 * cpu / number, 1e6 * used / number)


def typical(costs: Sequence[Cost]) -> Cost:
    """The median of each figure by itself."""
    rates, python, redis = zip(*costs, strict=True)
    return Cost(median(rates), median(python), median(redis))


class Rounds:
    """Gives `ratio` the rates it asks for, and keeps all that was measured with them."""

    def __init__(self, measure: Callable[[], Cost]) -> None:
        self._measure = measure
        self._costs: list[Cost] = []

    def __call__(self) -> float:
        cost = self._measure()
        self._costs.append(cost)
        return cost.rate

    def cost(self) -> Cost:
        return typical(self._costs)


def compared(
    name: str,
    ours: Callable[[], Cost],
    floor: Callable[[], Cost],
    goal: Goal,
    rounds: int = 5,
) -> tuple[Line, Cost, Cost]:
    """The ratio of the rates as a line that tells of the processors too, and both costs."""
    first, second = Rounds(ours), Rounds(floor)
    line = ratio(name, first, second, ("windlass", "redis-py"), goal, rounds)
    a, b = first.cost(), second.cost()
    python = f"Python {a.python:.1f} and {b.python:.1f} µs"
    redis = f"Redis {a.redis:.1f} and {b.redis:.1f} µs"
    return line._replace(detail=f"{line.detail}; {python}, {redis} for each"), a, b
