"""The keys that count: those of the store, looked at again every few seconds.

While the store never had a key, a server is open to everybody, if it can only be reached from its
own machine or was told to be. Once there was one it stays closed, also when the last is revoked.

With a key ends all that is held by it: who goes on after a request was let in, as a stream does,
says so by `held`, and hears of the end of the key, of its login, or of a change of what it may do.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ..config import ServerSettings
from ..core.apikey import ApiKey, matching
from ..core.session import Login, opened, wrap
from ..errors import ConfigError, Unauthenticated
from ..service import Service
from ..stores.contract import Store
from .caller import ANYONE, Caller, caller_of

log = logging.getLogger("windlass")

NO_KEY: Final = "This needs an API key, in X-API-Key or as Authorization: Bearer."
OVER: Final = "The login is over, or its API key was revoked: log in again."
WRONG_KEY: Final = "The API key is wrong, revoked or expired."
ALL_GONE: Final = (
    "all API keys were revoked, so nobody is let in: make one by windlass keys create --role admin"
)

MOST_ENDED: Final = 1_000
"""So many logins of one key are ended one by one; with the next, all that it has are over."""

LONGEST_TIMER: Final = 24 * 3_600.0


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
        self._ended: dict[str, int] = {}
        """logins that were ended before their time, each with that time"""
        self._held: dict[asyncio.Future[None], tuple[Caller, bytes | None]] = {}
        """what goes on: who for, and the digest of the key as it was when it began"""
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
        if self._had_keys and self._may_be_open:
            log.warning(ALL_GONE)
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
            # Before the store is asked: what is over ends through an outage, too.
            self._end_what_is_over()
            await self.refresh()

    async def refresh(self) -> None:
        """An outage leaves the keys as they were."""
        store = self._store
        keys, ended = await store.keys(), await store.ended_logins()
        self._ahead = await store.now() - _monotonic()
        self._had_keys = self._had_keys or bool(keys) or await store.had_keys()
        self._keys = {key.id: key for key in keys}
        self._callers = {key.id: caller_of(key) for key in keys}
        # Some were ended here, and the store could not be told.
        mine = {login: until for login, until in self._ended.items() if until > self._now}
        self._ended = {**mine, **ended}
        self._end_what_is_over()

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
        found = self._opened(login)
        if found is None:
            raise Unauthenticated(OVER)
        caller = self._callers[found.key.id]
        until = min(found.expires_at, caller.until or found.expires_at)
        return caller._replace(login=found.id, until=until)

    async def log_out(self, login: str) -> Caller | None:
        """End a login on every server of the store; who had it, None if it was over."""
        found = self._opened(login)
        if found is None:
            return None
        caller, ended = self._callers[found.key.id], found.id
        if sum(each.startswith(f"{caller.name}:") for each in self._ended) >= MOST_ENDED:
            ended = _every(caller.name)
        self._ended[ended] = found.expires_at
        self._end_what_is_over()
        await self._store.end_logins({ended: found.expires_at})
        return caller

    @contextmanager
    def held(self, caller: Caller) -> Iterator[asyncio.Future[None]]:
        """A future that is done as soon as this caller may no longer do what goes on."""
        loop = asyncio.get_running_loop()
        over = loop.create_future()
        timer = None
        if caller.until is not None:
            left = max(caller.until - self._now + 1, 0) / 1000
            timer = loop.call_later(min(left, LONGEST_TIMER), self._end_what_is_over)
        self._held[over] = caller, self._digest(caller)
        if not self._counts(*self._held[over]):
            over.set_result(None)
        try:
            yield over
        finally:
            del self._held[over]
            if timer is not None:
                timer.cancel()

    def refuse_over(self, caller: Caller) -> None:
        """Raise `Unauthenticated` for who was let in a while ago, and would not be now."""
        if not self._counts(caller, self._digest(caller)):
            raise over_for(caller)

    def _end_what_is_over(self) -> None:
        for over, (caller, digest) in self._held.items():
            if not over.done() and not self._counts(caller, digest):
                over.set_result(None)

    def _counts(self, caller: Caller, digest: bytes | None) -> bool:
        """Whether somebody who was let in would be let in still, to the same."""
        if caller is ANYONE:
            return self.is_open
        if not caller.is_keyed:
            # The app around us has said who it is.
            return True
        known, now = self._callers.get(caller.name), self._now
        return (
            known is not None
            and digest == self._digest(caller)
            and (known.allows, known.queues) == (caller.allows, caller.queues)
            and all(until is None or until > now for until in (known.until, caller.until))
            and not (caller.login and self._is_ended(caller.name, caller.login))
        )

    def _digest(self, caller: Caller) -> bytes | None:
        key = self._keys.get(caller.name)
        return None if key is None else key.digest

    def _opened(self, login: str) -> Login | None:
        found = opened(self._keys, login, self._now)
        return None if found is None or self._is_ended(found.key.id, found.id) else found

    def _is_ended(self, key: str, login: str) -> bool:
        return login in self._ended or _every(key) in self._ended

    def _found(self, text: str) -> ApiKey:
        key = matching(self._keys, text, self._now)
        if key is None:
            raise Unauthenticated(WRONG_KEY)
        return key

    @property
    def _now(self) -> int:
        return _monotonic() + self._ahead


def over_for(caller: Caller) -> Unauthenticated:
    """What somebody is told whose key or login has ended meanwhile."""
    return Unauthenticated(OVER if caller.login else WRONG_KEY)


def _every(key: str) -> str:
    """What stands for all logins of a key."""
    return f"{key}:every"


def _monotonic() -> int:
    return time.monotonic_ns() // 1_000_000


def key_in(api_key: str | None, authorization: str | None) -> str | None:
    """The key of a request by its two headers; X-API-Key wins."""
    if api_key:
        return api_key.strip()
    scheme, _, text = (authorization or "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None
