"""What both APIs share: the app, its store, and the parts that answer requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from starlette.requests import Request

from ..admin.eyes import Eyes
from ..app import Windlass
from ..config import ServerSettings
from ..core.limit import Limit
from ..observe.ledger import Ledger
from ..stores.contract import Store
from . import panorama, trend
from .audit import Audit
from .caller import Caller
from .keyring import Keyring
from .limits import Limits
from .lookout import Lookout
from .meter import Meter
from .offer import Offers
from .owners import Owners
from .pulse import Pulse
from .scope import scoped
from .throttle import Throttle
from .watch import Watcher
from .workers import Workers

Authorize = Callable[[Request], Awaitable[Caller | None] | Caller | None]
"""Tells who makes a request; None is nobody that may."""

WRONG_KEYS: Final = "10/min"
FEW: Final = 10
"""Wrong keys that one address may try at once, and how many more in a minute."""


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
    ledger: Ledger
    workers: Workers
    """serves workers in other languages"""
    draining: asyncio.Event
    """set when the server is about to stop: nobody is to wait for anything any more"""
    lookout: Lookout[panorama.Panorama]
    trends: Lookout[trend.Trend]
    logins: Throttle
    """counts wrong keys by the address that they come from"""
    owners: Owners
    limits: Limits
    authorize: Authorize | None = None
    """tells who calls in the place of keys"""

    @property
    def eyes(self) -> Eyes:
        """What may be seen of the arguments of jobs."""
        return Eyes(self.app.codecs, self.app.registry, self.settings.redact)

    def store_for(self, caller: Caller) -> Store:
        """The store as this caller may see and change it."""
        return scoped(self.store, caller, self.owners)

    def admit(self, key: str | None = None, *, login: str | None = None) -> Caller:
        """Who calls, by the key of the request or by a login; counts it."""
        keyring = self.keyring
        caller = keyring.identify(key) if login is None else keyring.recognize(login)
        self.throttle.take(caller.name)
        return caller


async def make_site(
    app: Windlass,
    settings: ServerSettings,
    *,
    has_tasks: bool,
    authorize: Authorize | None = None,
) -> Site:
    """The parts for the running event loop, not started yet."""
    ledger = Ledger(app.registry if has_tasks else None)
    meter = Meter(ledger)
    # First: calls of a store are told only to those who listen when it is opened.
    app.observe(meter.metrics)
    store = await app.client.store()
    offers = Offers(app, has_tasks=has_tasks)
    return Site(
        app,
        has_tasks,
        store,
        settings,
        Keyring(store, settings),
        Throttle(settings.limit),
        Audit(settings.audit_log),
        offers,
        Watcher(store),
        Pulse(store),
        meter,
        ledger,
        Workers(app, store, ledger, offers.max_payload),
        asyncio.Event(),
        Lookout(panorama.take, panorama.LASTS),
        Lookout(trend.take, trend.LASTS),
        Throttle(Limit(rate=WRONG_KEYS, burst=FEW)),
        Owners(store),
        Limits(app.registry if has_tasks else None),
        authorize,
    )
