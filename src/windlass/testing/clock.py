"""A clock that stands still until a test moves it."""

from __future__ import annotations

from ..core.clock import to_ms

START = 1_750_000_000_000


class FakeClock:
    """Hand it to a store as its clock; `advance` is the only thing that moves time."""

    def __init__(self, now: int = START) -> None:
        self.began = self.now = now

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += to_ms(seconds)
