"""A moment of the store, written for programs and for people."""

from __future__ import annotations

import time
from typing import Final

from ..core.clock import to_datetime

EARLIEST: Final = -62_135_596_800_000
LATEST: Final = 253_402_300_799_000
"""The years 1 to 9999; a job may be due outside of them, and its listing must not fail."""

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def iso(ms: int | None) -> str | None:
    """A moment of the store as ISO-8601 in UTC."""
    if ms is None:
        return None
    moment = to_datetime(min(max(ms, EARLIEST), LATEST))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def date(ms: int) -> str:
    """A moment of the store for people, to the minute: `2026-03-01 09:30 UTC`."""
    return f"{to_datetime(min(max(ms, EARLIEST), LATEST)):%Y-%m-%d %H:%M} UTC"


def relative(ms: int | None, now: float | None = None) -> str:
    """A moment as people say it: `3 min ago`, `in 5 s`; `now` is in seconds."""
    if ms is None:
        return ""
    ago = (time.time() if now is None else now) * 1000 - ms
    if abs(ago) < 1000:
        return "now"
    return f"{span(ago)} ago" if ago > 0 else f"in {span(-ago)}"


def span(ms: float) -> str:
    """A duration in its largest unit: `3 min`."""
    for size, unit in _UNITS:
        if ms >= size * 1000:
            return f"{ms // (size * 1000):.0f} {unit}"
    return "0 s"
