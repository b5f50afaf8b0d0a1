"""One request, as the functions that answer it see it."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar
from urllib.parse import unquote

from grpc import aio

from ...stores.contract import Store
from ..caller import Caller
from ..site import Site
from ..worker_requests import refuse_too_many

R = TypeVar("R")

Context = aio.ServicerContext[Any, Any]

MARGIN: Final = 0.25
"""Seconds that an answer has, at the end of a wait, to reach a client before its deadline."""


class Call(Generic[R]):
    """A request that was admitted and read; `store` is the one that the caller may see."""

    __slots__ = ("caller", "context", "is_audited", "request", "site", "store")

    def __init__(self, site: Site, caller: Caller, context: Context, request: R) -> None:
        self.site = site
        self.caller = caller
        self.context = context
        self.request = request
        self.is_audited = False
        self.store: Store = site.store_for(caller)

    def wait(self, asked_ms: int) -> float:
        """How many seconds to wait: as asked, within what the server and the deadline allow."""
        left = self.context.time_remaining()
        most = self.site.settings.max_wait
        if left is not None:
            most = min(most, left - MARGIN)
        return max(min(asked_ms / 1000, most), 0.0)

    def bound(self, number: int, what: str) -> None:
        """Refuse more than a server takes in one request."""
        refuse_too_many(number, self.site.settings.max_batch, what)

    def audit(self, action: str, **target: Any) -> None:
        """Note a change that was made; a refusal is noted without being asked."""
        self.is_audited = True
        self.site.audit.note(self.caller, address_of(self.context), action, target)


def address_of(context: Context) -> str:
    """Where a request came from, without the port."""
    kind, _, rest = unquote(context.peer()).partition(":")
    return rest.rpartition(":")[0].strip("[]") if kind in ("ipv4", "ipv6") else kind
