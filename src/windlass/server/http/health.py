"""Whether the server lives, whether it can serve, and what it has counted."""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec

from ... import __version__
from ...errors import StoreUnavailable
from ..faults import Draining
from ..meter import CONTENT_TYPE
from .call import Binary, Call

PATIENCE: Final = 5.0


class Health(msgspec.Struct, frozen=True):
    """The server answers."""

    status: str
    version: str = __version__


async def livez(call: Call[None, None]) -> Health:
    """Whether the process lives; asks nobody else."""
    return Health("alive")


async def readyz(call: Call[None, None]) -> Health:
    """Whether requests can be served now: the store answers, and the server is not stopping."""
    if call.site.draining.is_set():
        raise Draining("The server is stopping; ask another one.")
    try:
        async with asyncio.timeout(PATIENCE):
            await call.site.store.ping()
    except TimeoutError:
        raise StoreUnavailable(f"The store did not answer within {PATIENCE:g} s.") from None
    return Health("ready")


async def metrics(call: Call[None, None]) -> Binary:
    """What Prometheus scrapes."""
    return Binary(await call.site.meter.scrape(call.store, call.caller.queues), CONTENT_TYPE)
