"""A site without a network, and calls of its procedures."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from windlass import Windlass
from windlass.config import ServerSettings
from windlass.core.apikey import new_key
from windlass.server.caller import ANYONE, Caller, caller_of
from windlass.server.procedures import perform
from windlass.server.site import Site, make_site
from windlass.stores.remote.calls import CALLS, encode

LIMITS = ServerSettings(max_batch=10, max_wait=30)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    app = Windlass("memory://", max_payload=1_000)
    yield await make_site(app, LIMITS, has_tasks=False)
    await app.aclose()


@pytest.fixture
async def shop() -> AsyncIterator[Site]:
    """One of an app that has the task `work`."""
    app = Windlass("memory://")
    app.task(name="work")(lambda *args: None)
    yield await make_site(app, LIMITS, has_tasks=True)
    await app.aclose()


async def call(site: Site, name: str, caller: Caller = ANYONE, /, **arguments: Any) -> Any:
    """What a procedure answers."""
    body = encode(CALLS[name].arguments(**arguments))
    answer = await perform(site, caller, name, body, address="127.0.0.1")
    return CALLS[name].decode_answer(answer)


def with_key(*roles: str, queues: tuple[str, ...] = ()) -> Caller:
    """Whoever has such a key."""
    return caller_of(new_key(roles, queues).key)
