"""Stores and workers that something happens to, and the questions to ask afterwards."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from tests.stores import site
from windlass.core.ids import new_id
from windlass.stores.contract import Store
from windlass.stores.open import open_store

PROMISED = 2.0
"""In seconds, from when the server is back to the first job's start."""

TRIES = 3

QUEUES = tuple(f"queue-{n}" for n in range(12))
"""Enough for every master of a Cluster to have some."""


@asynccontextmanager
async def opened(url: str, namespace: str) -> AsyncIterator[Store]:
    """A store with keys of its own on the server of `url`."""
    store = open_store(f"{url}?namespace={namespace}")
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def soonest(trial: Callable[[], Awaitable[float]]) -> float:
    """The best of some tries, the first that keeps the promise being the last.

    Other work on the machine may delay a start and cannot bring it forward.
    """
    best = await trial()
    for _ in range(TRIES - 1):
        if best >= PROMISED:
            best = min(best, await trial())
    return best


@asynccontextmanager
async def working(
    url: str, direct: str, queues: Sequence[str] = ("default",), options: str = ""
) -> AsyncIterator[site.Site]:
    """As `site.working`, with keys of its own."""
    space = f"?namespace={new_id()}"
    async with site.working(url + space + options, direct + space + options, queues) as made:
        yield made
