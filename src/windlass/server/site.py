"""What both APIs share: the app, its store, and the parts that answer requests."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from ..app import Windlass
from ..config import ServerSettings
from ..stores.contract import Store
from .audit import Audit
from .caller import Caller
from .keyring import Keyring
from .meter import Meter
from .offer import Offers
from .pulse import Pulse
from .scope import scoped
from .throttle import Throttle
from .watch import Watcher


class Site(NamedTuple):
    """The parts of one server; `app` has no tasks if only a store was named."""

    app: Windlass
    has_tasks: bool
    store: Store
    settings: ServerSettings
    keyring: Keyring
    throttle: Throttle
    audit: Audit
    offers: Offers
    watcher: Watcher
    pulse: Pulse
    meter: Meter
    draining: asyncio.Event
    """set when the server is about to stop: nobody is to wait for anything any more"""

    def store_for(self, caller: Caller) -> Store:
        """The store as this caller may see and change it."""
        return scoped(self.store, caller)

    def admit(self, key: str | None) -> Caller:
        """Who calls, by the key of the request; counts it."""
        caller = self.keyring.identify(key)
        self.throttle.take(caller.name)
        return caller


async def make_site(app: Windlass, settings: ServerSettings, *, has_tasks: bool) -> Site:
    """The parts for the running event loop, not started yet."""
    store = await app.client.store()
    return Site(
        app,
        has_tasks,
        store,
        settings,
        Keyring(store, settings),
        Throttle(settings.limit),
        Audit(settings.audit_log),
        Offers(app, has_tasks=has_tasks),
        Watcher(store),
        Pulse(store),
        Meter(),
        asyncio.Event(),
    )
