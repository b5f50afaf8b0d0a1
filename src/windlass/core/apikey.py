"""API keys: who may do what over the network. Pure; what is stored is never the key itself.

A key is `wl_ID_SECRET`. The id is public and finds the record; the secret has 256 random bits, so
that a plain hash of it is safe to store: there is nothing to guess from.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from typing import Final, NamedTuple

import msgspec

from ..errors import InvalidOption
from .name import checked_name

_TEXT: Final = re.compile(r"wl_([a-z0-9]{12})_([A-Za-z0-9_-]{43})")
_NO_DIGEST: Final = bytes(32)


class Role(StrEnum):
    """What a key is for. A key may have several."""

    READ = "read"
    """look at jobs, queues, workers and history"""
    ENQUEUE = "enqueue"
    """store jobs, and signal them"""
    WORK = "work"
    """fetch jobs and finish them"""
    OPERATE = "operate"
    """look, and change jobs, queues and schedules"""
    UPKEEP = "upkeep"
    """do what keeps all queues going: lead, rescue, tick, prune"""
    ADMIN = "admin"
    """everything"""


IMPLIED: Final[Mapping[Role, frozenset[Role]]] = {
    Role.READ: frozenset({Role.READ}),
    Role.ENQUEUE: frozenset({Role.ENQUEUE}),
    Role.WORK: frozenset({Role.WORK}),
    Role.OPERATE: frozenset({Role.OPERATE, Role.READ}),
    Role.UPKEEP: frozenset({Role.UPKEEP}),
    Role.ADMIN: frozenset(Role),
}


class ApiKey(msgspec.Struct, frozen=True):
    """A key as the store has it. Moments are milliseconds."""

    id: str
    digest: bytes
    """the SHA-256 of the secret"""
    roles: tuple[Role, ...]
    queues: tuple[str, ...] = ()
    """it sees and changes nothing outside of these; none means all"""
    name: str = ""
    """whose it is, for people"""
    created_at: int = 0
    expires_at: int | None = None

    @property
    def allows(self) -> frozenset[Role]:
        """Its roles and all that these imply."""
        return frozenset().union(*(IMPLIED[role] for role in self.roles))


class Made(NamedTuple):
    """A new key: the record to store, and the text that is shown once."""

    key: ApiKey
    text: str


def new_key(
    roles: Iterable[Role | str],
    queues: Iterable[str] = (),
    name: str = "",
    *,
    now: int = 0,
    expires_in: int | None = None,
) -> Made:
    """Make a key, or raise `InvalidOption`. Times are in milliseconds."""
    given = tuple(dict.fromkeys(map(checked_role, roles)))
    if not given:
        raise InvalidOption(f"A key needs a role: {', '.join(Role)}.")
    scope = tuple(checked_name(queue, "name of a queue") for queue in dict.fromkeys(queues))
    if scope and Role.ADMIN in given:
        raise InvalidOption("An admin key is for everything: it cannot be bound to queues.")
    id = "".join(secrets.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(12))
    secret = secrets.token_urlsafe(32)
    expires_at = None if expires_in is None else now + expires_in
    label = checked_name(name, "name of a key") if name else ""
    key = ApiKey(id, _digest(secret), given, scope, label, now, expires_at)
    return Made(key, f"wl_{id}_{secret}")


def checked_role(value: Role | str) -> Role:
    try:
        return Role(value)
    except ValueError:
        raise InvalidOption(f"A role is one of {', '.join(Role)}; got {value!r}.") from None


def matching(keys: Mapping[str, ApiKey], text: str, now: int) -> ApiKey | None:
    """The key that a text is, by its id; None if there is none, it is wrong, or over.

    A secret is hashed and compared whether or not the id is known, in constant time.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        return None
    key = keys.get(found[1])
    right = compare_digest(_digest(found[2]), _NO_DIGEST if key is None else key.digest)
    if key is None or not right or (key.expires_at is not None and key.expires_at <= now):
        return None
    return key


def _digest(secret: str) -> bytes:
    return sha256(secret.encode()).digest()
