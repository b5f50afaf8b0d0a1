"""Names of handlers in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

SHOWN: Final = 3


def counted(names: Iterable[str]) -> str:
    """Names, those that come most often first, as a person would list them."""
    counts = Counter(names)
    shown = [
        name if number == 1 else f"{name} ({number:,})"
        for name, number in counts.most_common(SHOWN)
    ]
    return ", ".join(shown) + (", …" if len(counts) > SHOWN else "")
