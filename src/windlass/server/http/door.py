"""Who calls: by an API key, by a login in a cookie, or as the app says in which we are mounted."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isawaitable
from typing import Final

from starlette.requests import Request

from ...errors import Forbidden
from ..caller import Caller
from ..keyring import key_in
from ..site import Site
from .call import Scope
from .origin import SAFE, refuse_foreign, refuse_forged

COOKIE: Final = "windlass_session"
NOT_KNOWN: Final = "The app around this dashboard does not let you in: log in there first."


class Door:
    """Lets callers in, or raises."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.asks_host = site.authorize is not None

    def admit(self, method: str, headers: Mapping[bytes, bytes]) -> Caller:
        """The caller by what the request has with it."""
        site = self._site
        if site.keyring.is_open:
            refuse_foreign(site.settings, headers)
        api_key, bearer = headers.get(b"x-api-key"), headers.get(b"authorization")
        if api_key is None and bearer is None and b"cookie" in headers:
            login = login_in(headers)
            if login is not None and not site.keyring.is_open:
                if method not in SAFE:
                    refuse_forged(headers)
                return site.admit(login=login)
        return site.admit(
            key_in(
                None if api_key is None else api_key.decode("latin-1"),
                None if bearer is None else bearer.decode("latin-1"),
            )
        )

    async def ask_host(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Caller:
        """The caller as the app around us knows it; it is its cookies that tell."""
        if b"x-api-key" in headers:
            return self.admit(scope["method"], headers)
        assert self._site.authorize is not None
        found = self._site.authorize(Request(scope))
        caller = await found if isawaitable(found) else found
        if caller is None:
            raise Forbidden(NOT_KNOWN)
        if scope["method"] not in SAFE:
            refuse_forged(headers)
        self._site.throttle.take(caller.name)
        return caller


def login_in(headers: Mapping[bytes, bytes]) -> str | None:
    """The login of a request, if it has one."""
    for each in headers.get(b"cookie", b"").split(b";"):
        name, _, value = each.strip().partition(b"=")
        if name == COOKIE.encode():
            return value.decode("latin-1")
    return None
