"""Renewing leases past jobs that another transaction has.

A user's transaction that lets a job wait for another one has the row of that one for as long as it
is open: the leases that are renewed together must not wait for it. So such a job is passed over,
and counts as held while its lease lasts. Once that has run out it may as well be a rescuer that has
the row, who is done within moments: it is looked at again before it counts as held.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from ...core.model import Lease

LOOKS: Final = 20
BREATH: Final = 0.01


class Renewed(NamedTuple):
    """The ids that are held, and those that may be about to be taken over."""

    held: frozenset[str] = frozenset()
    doubted: frozenset[str] = frozenset()


async def renewed(
    step: Callable[[Sequence[Lease]], Awaitable[Renewed]], leases: Sequence[Lease]
) -> frozenset[str]:
    """The ids that are held, doubts resolved."""
    held, doubted = await step(leases)
    for _ in range(LOOKS):
        if not doubted:
            break
        await asyncio.sleep(BREATH)
        more, doubted = await step([each for each in leases if each.id in doubted])
        held |= more
    return held | doubted
