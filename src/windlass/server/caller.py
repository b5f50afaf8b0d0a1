"""Who calls: what a request may do, whichever way it came."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..core.apikey import ApiKey, Role
from ..errors import Forbidden


class Caller(NamedTuple):
    """The one behind a request. `queues` is all that it sees; none means everything."""

    name: str
    allows: frozenset[Role]
    queues: frozenset[str] = frozenset()

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
    return Caller(key.id, key.allows, frozenset(key.queues))


def _roles(roles: frozenset[Role]) -> str:
    return ", ".join(role for role in Role if role in roles)
