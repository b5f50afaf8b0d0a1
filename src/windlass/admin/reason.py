"""Why a job does not run, for whoever waits for it; or why those do not that it waits for."""

from __future__ import annotations

from typing import Final

from ..core.states import LIVE, State
from ..stores.contract import Store
from .facts import look
from .why import Reason, explain

DEEPEST: Final = 5
"""The most jobs that are looked at, each of which waits for the next."""


async def reason(store: Store, id: str) -> Reason:
    """The reason; of a chain of jobs the sentence has the first and the last."""
    facts = await look(store, id, await store.now())
    first = last = explain(facts)
    for _ in range(DEEPEST):
        live = (each.id for each in facts.awaited.values() if each.state in LIVE)
        if facts.job.state is not State.BLOCKED or (parent := next(live, None)) is None:
            break
        facts = await look(store, parent, await store.now())
        last = explain(facts)
    if last is first:
        return first
    return Reason(last.code, f"{first.sentence} Of {facts.job.id}: {last.sentence}")
