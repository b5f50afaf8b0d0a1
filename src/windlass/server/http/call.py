"""One request, as the functions that answer it see it, and what they may answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from ...stores.contract import Store
from ..caller import Caller
from ..site import Site

Q = TypeVar("Q")
B = TypeVar("B")


class Call(Generic[Q, B]):
    """A request that was admitted and read: `Q` is its query, `B` its body, each None if it has
    none. `store` is the one that the caller may see."""

    __slots__ = ("action", "address", "body", "caller", "headers", "path", "query", "site", "store")

    def __init__(
        self,
        site: Site,
        action: str,
        caller: Caller,
        address: str,
        path: Mapping[str, str],
        headers: Mapping[bytes, bytes],
        query: Q,
        body: B,
    ) -> None:
        self.site = site
        self.action = action
        self.caller = caller
        self.address = address
        self.path = path
        self.headers = headers
        self.query = query
        self.body = body
        self.store: Store = site.store_for(caller)

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    def wait(self, asked: float) -> float:
        """How long this request may wait: as asked, but not longer than the server allows."""
        return 0.0 if self.site.draining.is_set() else min(asked, self.site.settings.max_wait)

    def audit(self, **target: Any) -> None:
        """Note a change that was made; a refusal is noted without being asked."""
        self.site.audit.note(self.caller, self.address, self.action, target)


class Reply(NamedTuple):
    """An answer with a status of its own; its type is what the function says it returns."""

    value: Any
    status: int


class Binary(NamedTuple):
    """Bytes as they are."""

    data: bytes
    content_type: str


class Events(NamedTuple):
    """Server-sent events: name and JSON of each, for as long as the client listens."""

    stream: AsyncIterator[tuple[str, bytes]]
