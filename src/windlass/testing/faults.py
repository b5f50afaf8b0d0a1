"""A store that fails on demand, to see what an outage does to everything above it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..errors import StoreUnavailable
from ..stores.contract import Store


class FaultyStore:
    """Passes every call on to a real store, unless it is told to fail.

    `down` fails every call; `fail["claim"] = 2` fails the next two claims; with `lose`
    the call is carried out and only its answer is lost, as on a broken connection.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.down = False
        self.fail: Counter[str] = Counter()
        self.lose: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not callable(method):
            return method

        async def call(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] += 1
            if self.down or self.fail[name] > 0:
                self.fail[name] -= not self.down
                raise StoreUnavailable(f"{name}: the engine did not answer (injected).")
            answer = await method(*args, **kwargs)
            if self.lose[name] > 0:
                self.lose[name] -= 1
                raise StoreUnavailable(f"{name}: the answer was lost (injected).")
            return answer

        return call
