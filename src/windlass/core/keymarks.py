"""What a store remembers beside its API keys, in records of the same form that are no keys. Pure.

That there were keys, so that a server does not open itself to everybody when the last one is
revoked; and the logins that were ended before their time. Versions before this one list them as
keys without a role, which let nobody in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from .apikey import ApiKey, Role

MARK: Final = "~"
"""How the id of such a record begins; that of no key does."""

_LOGIN: Final = f"{MARK}login:"

HAD_KEYS: Final = ApiKey(f"{MARK}had-keys", b"", ())
"""There are keys, or there were."""

NOBODY: Final = ApiKey("nobody", bytes(32), (Role.READ,), expires_at=0)
"""A key that lets nobody in: put and dropped, it leaves it behind that there was one."""


def is_mark(id: str) -> bool:
    return id.startswith(MARK)


def tells_of_keys(ids: Iterable[str]) -> bool:
    """Whether there are keys or were any, by the ids of all records, damaged ones too."""
    return any(id == HAD_KEYS.id or not is_mark(id) for id in ids)


def without_marks(records: Iterable[ApiKey]) -> list[ApiKey]:
    """The keys among records."""
    return [each for each in records if not is_mark(each.id)]


def marks_of(logins: Mapping[str, int]) -> list[ApiKey]:
    """The records of logins that were ended, each with the moment at which it ends anyway."""
    return [
        ApiKey(f"{_LOGIN}{login}", b"", (), expires_at=logins[login]) for login in sorted(logins)
    ]


def logins_in(records: Iterable[ApiKey], now: int) -> dict[str, int]:
    """The logins that were ended and whose moment is to come."""
    return {
        each.id.removeprefix(_LOGIN): each.expires_at
        for each in records
        if each.id.startswith(_LOGIN) and each.expires_at is not None and each.expires_at > now
    }


def past_in(records: Iterable[ApiKey], now: int) -> list[str]:
    """The ids of the records whose moment has come: they need not be remembered."""
    return [
        each.id
        for each in records
        if each.id.startswith(_LOGIN) and each.expires_at is not None and each.expires_at <= now
    ]
