"""The conformance suite: what every store must do, as plain async functions by theme.

A check takes what it needs by name: `store`, an opened and empty store on a fake clock;
`clock`, that clock; `another_store`, a second handle on the same data (for a store that
lives in one process, the same object). A test module takes a theme by
`from windlass.testing.suite.claim import *`; any other runner goes through `checks`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Awaitable, Callable, Iterator
from typing import NamedTuple

from ...stores.contract import Store
from ..clock import FakeClock

PREFIX = "test_"


class Check(NamedTuple):
    """One behaviour of a store."""

    theme: str
    name: str
    function: Callable[..., Awaitable[None]]

    async def run(self, store: Store, clock: FakeClock, another_store: Store) -> None:
        """Carry out the check; it raises `AssertionError` if the store does not conform."""
        offered = {"store": store, "clock": clock, "another_store": another_store}
        await self.function(**{name: offered[name] for name in self.needs})

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.function).parameters)


def themes() -> list[str]:
    """The modules of the suite, found and not listed: a new one cannot be forgotten."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def checks() -> Iterator[Check]:
    """Every check, theme by theme, in the order in which they are written."""
    for theme in themes():
        module = importlib.import_module(f"{__name__}.{theme}")
        for name, function in vars(module).items():
            if name.startswith(PREFIX):
                yield Check(theme, name.removeprefix(PREFIX), function)
