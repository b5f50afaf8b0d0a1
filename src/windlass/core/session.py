"""A login: an API key, wrapped so that it counts in a browser and for a time. Pure.

What wraps a key comes of the hash that the store has of it. So every server can unwrap it, and
nobody can once the key is revoked. Who steals a login has no key, and loses it when its time is
over; who reads the hashes cannot make a login, which has the secret inside. One that was ended
before its time is noted in the store by its id: see `core.keymarks`.
"""

from __future__ import annotations

import hmac
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Final, NamedTuple

from .apikey import ApiKey, matching

NONCE: Final = 16
MOMENT: Final = 8
SECRET: Final = 43
TAG: Final = 32
_TEXT: Final = re.compile(r"wls_([a-z0-9]{12})_([A-Za-z0-9_-]{132})")


def wrap(key: ApiKey, text: str, expires_at: int) -> str:
    """The login for a key, whose text was found to be right; good until a moment."""
    nonce = secrets.token_bytes(NONCE)
    secret = text.encode()[-SECRET:]
    sealed = nonce + expires_at.to_bytes(MOMENT) + _masked(key, nonce, secret)
    return f"wls_{key.id}_{urlsafe_b64encode(sealed + _tag(key, sealed)).decode()}"


class Login(NamedTuple):
    """A login that was found to be right."""

    key: ApiKey
    id: str
    """tells it from all others, and is no secret"""
    expires_at: int


def unwrap(keys: Mapping[str, ApiKey], login: str, now: int) -> ApiKey | None:
    """The key of a login; None if it is none, is over, or its key is."""
    found = opened(keys, login, now)
    return None if found is None else found.key


def opened(keys: Mapping[str, ApiKey], login: str, now: int) -> Login | None:
    """A login with its key; None if it is none, is over, or its key is."""
    found = _TEXT.fullmatch(login)
    key = None if found is None else keys.get(found[1])
    if found is None or key is None:
        return None
    data = urlsafe_b64decode(found[2])
    sealed, tag = data[:-TAG], data[-TAG:]
    if not hmac.compare_digest(tag, _tag(key, sealed)):
        return None
    nonce, moment, masked = sealed[:NONCE], sealed[NONCE:-SECRET], sealed[-SECRET:]
    expires_at = int.from_bytes(moment)
    if expires_at <= now:
        return None
    secret = _masked(key, nonce, masked).decode("latin-1")
    if matching(keys, f"wl_{key.id}_{secret}", now) is None:
        return None
    return Login(key, f"{key.id}:{nonce.hex()}", expires_at)


def _masked(key: ApiKey, nonce: bytes, secret: bytes) -> bytes:
    """The secret as nobody can read it who has not its hash; of that, the secret again."""
    mask = hmac.digest(key.digest, b"mask" + nonce, "sha512")
    return bytes(a ^ b for a, b in zip(secret, mask[:SECRET], strict=True))


def _tag(key: ApiKey, sealed: bytes) -> bytes:
    return hmac.digest(key.digest, b"tag" + sealed, "sha256")
