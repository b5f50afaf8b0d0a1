"""The keys that count: those of the store, looked at again every few seconds.

While the store has no keys, a server is open to everybody, if it can only be reached from its own
machine or was told to be. One that has seen keys stays closed when the last of them is revoked.
"""

from __future__ import annotations

import logging
import time
from typing import Final

from ..config import ServerSettings
from ..core.apikey import ApiKey, matching
from ..core.session import unwrap, wrap
from ..errors import ConfigError, Unauthenticated
from ..service import Service
from ..stores.contract import Store
from .caller import ANYONE, Caller, caller_of

log = logging.getLogger("windlass")

NO_KEY: Final = "This needs an API key, in X-API-Key or as Authorization: Bearer."
OVER: Final = "The login is over, or its API key was revoked: log in again."
WRONG_KEY: Final = "The API key is wrong, revoked or expired."


class Keyring(Service):
    """Tells who calls by the key that came along."""

    def __init__(self, store: Store, settings: ServerSettings) -> None:
        super().__init__()
        self._store = store
        self._interval = settings.key_refresh
        self._may_be_open = settings.is_local or settings.insecure
        self._insecure = settings.insecure and not settings.is_local
        self._had_keys = False
        self._keys: dict[str, ApiKey] = {}
        self._callers: dict[str, Caller] = {}
        self._ahead = 0
        """the store's clock, compared with the monotonic one of this machine"""

    @property
    def is_open(self) -> bool:
        """Whether everybody may do everything."""
        return self._may_be_open and not self._had_keys

    async def load(self) -> None:
        """Look at the keys once, before the first request; refuse to be open to the world."""
        await self.refresh()
        if self._keys:
            return
        if not self._may_be_open:
            raise ConfigError(
                "The store has no API keys, and a server without them may only listen on this "
                "machine: make one by windlass keys create --role admin, or say --insecure."
            )
        if self._insecure:
            log.warning("there are no API keys: everybody who reaches this server may do anything")

    async def run(self) -> None:
        while not self.stopping:
            await self.pause(self._interval)
            await self.refresh()

    async def refresh(self) -> None:
        """An outage leaves the keys as they were."""
        keys = await self._store.keys()
        self._ahead = await self._store.now() - _monotonic()
        self._had_keys = self._had_keys or bool(keys)
        self._keys = {key.id: key for key in keys}
        self._callers = {key.id: caller_of(key) for key in keys}

    def identify(self, text: str | None) -> Caller:
        """Who has this key, or `Unauthenticated`."""
        if self.is_open:
            return ANYONE
        if not text:
            raise Unauthenticated(NO_KEY)
        return self._callers[self._found(text).id]

    def log_in(self, text: str, lasts: int) -> str:
        """A login for a key that is good for `lasts` milliseconds, or `Unauthenticated`."""
        return wrap(self._found(text), text, self._now + lasts)

    def recognize(self, login: str) -> Caller:
        """Who has this login, or `Unauthenticated`."""
        key = unwrap(self._keys, login, self._now)
        if key is None:
            raise Unauthenticated(OVER)
        return self._callers[key.id]

    def _found(self, text: str) -> ApiKey:
        key = matching(self._keys, text, self._now)
        if key is None:
            raise Unauthenticated(WRONG_KEY)
        return key

    @property
    def _now(self) -> int:
        return _monotonic() + self._ahead


def _monotonic() -> int:
    return time.monotonic_ns() // 1_000_000


def key_in(api_key: str | None, authorization: str | None) -> str | None:
    """The key of a request by its two headers; X-API-Key wins."""
    if api_key:
        return api_key.strip()
    scheme, _, text = (authorization or "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None
