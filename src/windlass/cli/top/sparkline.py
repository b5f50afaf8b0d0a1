"""Numbers over time as a line of bars, and as words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

BARS: Final = "▁▂▃▄▅▆▇█"
ASCII_BARS: Final = "_.:-=+*#"
"""For terminals that have ASCII alone."""


def sparkline(numbers: Sequence[float], bars: str = BARS) -> str:
    """One bar for each number, the highest for the largest of them; a blank for nothing."""
    top = max(numbers, default=0)
    if top <= 0:
        return " " * len(numbers)
    last = len(bars) - 1
    return "".join(" " if n <= 0 else bars[round(n / top * last)] for n in numbers)


def rate(per_second: float) -> str:
    """How often, in at most eight characters: `12.3/s`, `4.1k/s`, `7/min`."""
    if per_second <= 0:
        return "0/s"
    if per_second < 1:
        return f"{max(round(per_second * 60), 1)}/min"
    if per_second < 100:
        return f"{per_second:.1f}/s"
    return f"{short(round(per_second))}/s"


def short(number: int) -> str:
    """A count in at most five characters: `9,999`, `12k`, `3.4M`."""
    if number < 10_000:
        return f"{number:,}"
    if number < 1_000_000:
        return f"{number // 1_000}k"
    return f"{number / 1_000_000:.1f}M" if number < 100_000_000 else f"{number // 1_000_000}M"


def size(number: int) -> str:
    """Bytes as people say them."""
    for unit, factor in (("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)):
        if number >= factor:
            value = number / factor
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{number} B"
