"""Logging in to the dashboard with an API key, and who one is then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

import msgspec

from ... import __version__
from ...core.apikey import Role
from ...core.clock import to_ms
from ...errors import Forbidden, Unauthenticated
from ..caller import Caller
from ..faults import NotThere
from .call import Call, Reply
from .door import COOKIE, login_in
from .origin import is_foreign, refuse_forged

HTTPS: Final = "https"


class Key(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The key of the one who logs in."""

    key: Annotated[str, msgspec.Meta(max_length=200)]


class Me(msgspec.Struct, frozen=True):
    """Who calls, and what they may do here. The API decides by itself; this is for what to show."""

    name: str
    roles: Sequence[Role]
    """all of them, those too that others imply"""
    queues: Sequence[str]
    """the only ones that are seen; none means all"""
    tasks_known: bool
    """whether the server has an app, whose tasks are the only ones"""
    redacts: Sequence[str]
    """the names of arguments that are not shown"""
    history: bool
    """whether finished jobs can be searched"""
    logged_in: bool
    """whether it was by logging in, so that one can log out"""
    version: str


async def log_in(call: Call[None, Key]) -> Me:
    """Log in to the dashboard with an API key: sets a cookie that counts in its place."""
    site = call.site
    if site.authorize is not None:
        raise NotThere("The app around this dashboard says who you are: log in there.")
    if is_foreign(call.headers):
        raise Forbidden("A login comes from the dashboard's own page.")
    if site.keyring.is_open:
        return _me(call, site.keyring.identify(None), logged_in=False)
    address, lasts = call.address, site.settings.session
    try:
        # A right key is let in whatever others have tried from the same address.
        login = site.keyring.log_in(call.body.key.strip(), to_ms(lasts))
    except Unauthenticated:
        site.logins.take(address)
        raise
    caller = site.keyring.recognize(login)
    site.audit.note(caller, address, call.action, {})
    me = _me(call, caller, logged_in=True)
    return Reply(me, 200, [_cookie(call, login, round(lasts))])  # type: ignore[return-value]


async def log_out(call: Call[None, None]) -> None:
    """Log out of the dashboard, on every server; the key stays as it is."""
    site, login = call.site, login_in(call.headers)
    if login is None:
        if is_foreign(call.headers):
            raise Forbidden("Who logs out does so on the dashboard's own page.")
    else:
        refuse_forged(call.headers)
        caller = await site.keyring.log_out(login)
        if caller is not None:
            site.audit.note(caller, call.address, call.action, {})
    return Reply(None, 204, [_cookie(call, "", 0)])  # type: ignore[return-value]


async def get_me(call: Call[None, None]) -> Me:
    """Tell who calls, and what they may do."""
    site, headers = call.site, call.headers
    by_key = b"x-api-key" in headers or b"authorization" in headers
    by_login = not by_key and not site.keyring.is_open and login_in(headers) is not None
    return _me(call, call.caller, logged_in=by_login and site.authorize is None)


def _me(call: Call[Any, Any], caller: Caller, *, logged_in: bool) -> Me:
    site = call.site
    return Me(
        caller.label or caller.name,
        [role for role in Role if role in caller.allows],
        sorted(caller.queues),
        site.has_tasks,
        site.settings.redact,
        site.app.history.is_kept,
        logged_in,
        __version__,
    )


def _cookie(call: Call[Any, Any], value: str, seconds: int) -> tuple[bytes, bytes]:
    parts = [
        f"{COOKIE}={value}",
        f"Path={call.root}/",
        f"Max-Age={seconds}",
        "HttpOnly",
        "SameSite=Strict",
        *(["Secure"] if _is_https(call) else []),
    ]
    return b"set-cookie", "; ".join(parts).encode("latin-1")


def _is_https(call: Call[Any, Any]) -> bool:
    """Whether the browser speaks TLS, maybe to a proxy in front of us."""
    origin = call.header(b"origin") or ""
    return HTTPS in (call.scope.get("scheme"), origin.partition(":")[0])
