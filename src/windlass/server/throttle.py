"""How many requests a key may make: tokens, by the rule that limits of jobs follow.

Each server counts for itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from ..core.limit import Limit
from ..errors import Throttled
from ..limits.rate import opens_at, started, tokens

MOST_NAMES: Final = 10_000


class Throttle:
    """Counts the requests of each caller; without a limit it lets all of them pass."""

    def __init__(self, limit: Limit | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._lane = None if limit is None else limit.lane("")
        self._clock = clock
        self._full_at: dict[str, int] = {}

    def take(self, name: str) -> None:
        """Count a request, or raise `Throttled`."""
        lane = self._lane
        if lane is None:
            return
        now = self.check(name)
        if name not in self._full_at and len(self._full_at) >= MOST_NAMES:
            self._forget(now)
        self._full_at[name], _ = started(lane, self._full_at.get(name, 0), (), now, 1)

    def check(self, name: str) -> int:
        """Raise `Throttled` if there is no room for another one; the moment of the look."""
        lane, now = self._lane, int(self._clock() * 1000)
        full_at = self._full_at.get(name, 0)
        if lane is not None and tokens(lane, full_at, (), now) < 1:
            after = max(opens_at(lane, full_at, (), now) - now, 1) / 1000
            raise Throttled(
                f"{name} may make {lane.starts:,} requests in {lane.per / 1000:g} s; try again in "
                f"{after:.3g} s.",
                after=after,
            )
        return now

    def _forget(self, now: int) -> None:
        """Names come from outside, and must not fill the memory."""
        self._full_at = {name: at for name, at in self._full_at.items() if at > now * 1000}
        if len(self._full_at) >= MOST_NAMES:
            self._full_at.clear()
