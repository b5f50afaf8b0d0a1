"""Everything that is left to chance, and every clock, taken from one seed for a while."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ...core import ids
from .loop import VirtualLoop

BEGIN: Final = 1_750_000_000
"""The moment at which every simulation begins."""


@contextmanager
def determined(seed: int, loop: VirtualLoop) -> Iterator[None]:
    """Within this, a process is a function of the seed. Nothing else may run in it meanwhile."""
    clocks = {
        "monotonic": loop.time,
        "perf_counter": loop.time,
        "time": lambda: BEGIN + loop.time(),
        "time_ns": lambda: int((BEGIN + loop.time()) * 1e9),
    }
    real = {name: getattr(time, name) for name in clocks}
    state = random.getstate()
    random.seed(seed)
    ids.seed(seed)
    for name, clock in clocks.items():
        setattr(time, name, clock)
    try:
        yield
    finally:
        for name, clock in real.items():
            setattr(time, name, clock)
        random.setstate(state)
        ids.seed()
