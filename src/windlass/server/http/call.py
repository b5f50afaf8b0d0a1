"""One request, as the functions that answer it see it, and what they may answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from ...stores.contract import Store
from ..caller import Caller
from ..site import Site

Scope = MutableMapping[str, Any]
Headers = Sequence[tuple[bytes, bytes]]
Q = TypeVar("Q")
B = TypeVar("B")


AUDITED: Final = "windlass.audited"
"""In the scope of a request whose change is noted, so that it is not noted as refused as well."""


class Call(Generic[Q, B]):
    """A request that was admitted and read: `Q` is its query, `B` its body, each None if it has
    none. `store` is the one that the caller may see."""

    __slots__ = ("action", "body", "caller", "headers", "path", "query", "scope", "site", "store")

    def __init__(
        self,
        site: Site,
        action: str,
        caller: Caller,
        scope: Scope,
        path: Mapping[str, str],
        headers: Mapping[bytes, bytes],
        query: Q,
        body: B,
    ) -> None:
        self.site = site
        self.action = action
        self.caller = caller
        self.scope = scope
        self.path = path
        self.headers = headers
        self.query = query
        self.body = body
        self.store: Store = site.store_for(caller)

    @property
    def address(self) -> str:
        """Where the request came from."""
        return address_of(self.scope)

    @property
    def root(self) -> str:
        """The path that the app is mounted at; nothing if it stands alone."""
        root: str = self.scope.get("root_path", "")
        return root

    def header(self, name: bytes) -> str | None:
        value = self.headers.get(name)
        return None if value is None else value.decode("latin-1")

    def wait(self, asked: float) -> float:
        """How long this request may wait: as asked, but not longer than the server allows."""
        return 0.0 if self.site.draining.is_set() else min(asked, self.site.settings.max_wait)

    def audit(self, **target: Any) -> None:
        """Note a change that was made; a refusal is noted without being asked."""
        self.scope[AUDITED] = True
        self.site.audit.note(self.caller, self.address, self.action, target)


def address_of(scope: Scope) -> str:
    """The address of a client."""
    return scope["client"][0] if scope.get("client") else "?"


class Reply(NamedTuple):
    """An answer with a status of its own; its type is what the function says it returns."""

    value: Any
    status: int
    headers: Headers = ()
    unsent: Callable[[], None] | None = None
    """what to do if the client has left before it could be answered"""


class Binary(NamedTuple):
    """Bytes as they are."""

    data: bytes
    content_type: str
    headers: Headers = ()


class Events(NamedTuple):
    """Server-sent events: name and JSON of each, for as long as the client listens."""

    stream: AsyncIterator[tuple[str, bytes]]


class Lines(NamedTuple):
    """A file of JSON lines: parts of it, each some whole lines."""

    stream: AsyncIterator[bytes]
    name: str
