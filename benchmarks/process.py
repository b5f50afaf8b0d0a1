"""Fresh processes, so that no measurement inherits the heap or the caches of another."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

SPAWN = multiprocessing.get_context("spawn")


def isolated(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function of a module in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        return pool.submit(function, *args, **kwargs).result()
