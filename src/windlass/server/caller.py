"""Who calls: what a request may do, whichever way it came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, Self

from ..core.apikey import IMPLIED, ApiKey, Role, checked_role
from ..errors import Forbidden


class Caller(NamedTuple):
    """The one behind a request. `queues` is all that it sees; none means everything."""

    name: str
    allows: frozenset[Role]
    queues: frozenset[str] = frozenset()
    label: str = ""
    """who that is, for people"""
    is_keyed: bool = False
    """whether it is by a key of the store, or by a login that stands for one"""
    login: str = ""
    """the id of that login"""
    until: int | None = None
    """when the key or the login is over, by the store's clock"""

    @classmethod
    def of(cls, name: str, *roles: Role | str, queues: Iterable[str] = ()) -> Self:
        """A caller with some roles and all that they imply; bound to queues, if some are given."""
        given = [checked_role(role) for role in roles]
        allows = frozenset[Role]().union(*(IMPLIED[role] for role in given))
        return cls(name, allows, frozenset(queues))

    def require(self, role: Role) -> None:
        if role not in self.allows:
            raise Forbidden(
                f"This needs a key with the role {role}; {self.name} has {_roles(self.allows)}."
            )

    def require_queue(self, queue: str) -> None:
        if self.queues and queue not in self.queues:
            raise Forbidden(
                f"The key {self.name} is bound to {', '.join(sorted(self.queues))}, and this is "
                f"about the queue {queue}."
            )


ANYONE: Final = Caller("anyone", frozenset(Role))
"""Whoever calls a server that has no keys."""


def caller_of(key: ApiKey) -> Caller:
    return Caller(
        key.id, key.allows, frozenset(key.queues), key.name, is_keyed=True, until=key.expires_at
    )


def _roles(roles: frozenset[Role]) -> str:
    return ", ".join(role for role in Role if role in roles)
