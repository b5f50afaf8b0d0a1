"""The way to the server that is to carry a command out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, Generic, Protocol, TypeVar

from ...errors import StoreError
from .fault import Lost
from .io import Io, Link
from .login import Login
from .url import Address, Settings

T = TypeVar("T")

_MOST_ABANDONED: Final = 32


class Route(Protocol):
    """Knows the master of each slot; a topology of one master ignores slots."""

    @property
    def closed(self) -> bool: ...

    def close(self) -> None:
        """Make no new link any more; those there are stay."""

    def ready(self, slot: int | None) -> Link | None:
        """The link for a slot if one is known, in whatever condition; costs nothing."""

    async def link(self, slot: int | None) -> Link:
        """A living link for a slot, None being any; `Lost` or `StoreError` if there is none."""

    async def link_at(self, address: Address) -> Link:
        """A living link to this very node."""

    def spread(self) -> Sequence[int | None]:
        """Slots that lead to every known master, each once."""

    def doubt(self, link: Link | None, kind: str) -> None:
        """Take note of a fault: what is known of the servers may no longer be true."""

    def moved(self, slot: int, address: Address) -> None:
        """Take note of what a MOVED says."""

    def links(self) -> Iterator[Link]:
        """Every living link."""

    def serves(self, address: Address) -> bool:
        """Whether this is a master as far as is known."""


class Turns(Generic[T]):
    """One caller tries, and those who come meanwhile share what came of it, good or bad.

    Without the sharing of failures, each of a hundred callers would try and fail after
    the one before it, and the last would wait a hundred times as long as it should.
    """

    def __init__(self, io: Io, known: Callable[[], T | None], act: Callable[[], Awaitable[T]]):
        self._lock = io.lock()
        self._known = known
        self._act = act
        self._turn = 0
        self._failure: Exception | None = None

    async def take(self) -> T:
        turn = self._turn
        async with self._lock:
            known = self._known()
            if known is not None:
                return known
            if turn != self._turn and self._failure is not None:
                raise self._failure
            # A caller that is cancelled here proves nothing: the next one tries itself.
            try:
                made = await self._act()
            except (Lost, StoreError) as failure:
                self._failure = failure
                self._turn += 1
                raise
            self._failure = None
            self._turn += 1
            return made


class Master:
    """A route with one master; also one node of a Cluster."""

    def __init__(self, io: Io, login: Login, address: Address) -> None:
        self.closed = False
        self._io = io
        self._login = login
        self._address = address
        self._link: Link | None = None
        self._abandoned: list[bytes] = []
        self._turns = Turns(io, self._living, self._connect)

    def close(self) -> None:
        self.closed = True

    def ready(self, slot: int | None) -> Link | None:
        return self._link

    async def link(self, slot: int | None) -> Link:
        return self._living() or await self._turns.take()

    async def link_at(self, address: Address) -> Link:
        return await self.link(None)

    def spread(self) -> Sequence[int | None]:
        return (None,)

    def doubt(self, link: Link | None, kind: str) -> None:
        # A demoted master keeps its connections; only a new one may lead to the new master.
        if link is not None and kind == "READONLY":
            link.close("it is no longer the master")

    def moved(self, slot: int, address: Address) -> None:
        raise StoreError(
            f"Redis at {self._address} belongs to a Cluster: write redis+cluster:// in the URL."
        )

    def links(self) -> Iterator[Link]:
        if self._link is not None and self._link.alive:
            yield self._link

    def serves(self, address: Address) -> bool:
        return self._link is None or self._link.address == address

    def _living(self) -> Link | None:
        return self._link if self._link is not None and self._link.alive else None

    async def _connect(self) -> Link:
        self._check_open()
        if self._link is not None:
            self._abandoned += self._link.abandoned
            self._link = None
        self._link = link = await self._reach(self._abandoned[-_MOST_ABANDONED:])
        self._abandoned.clear()
        if self.closed:
            link.close("the store was closed")
            await link.wait_closed()
            self._check_open()
        return link

    def _check_open(self) -> None:
        if self.closed:
            raise StoreError("The store is closed; open it before use.")

    async def _reach(self, abandoned: Sequence[bytes]) -> Link:
        return await self._io.connect(self._address, self._login, abandoned)


def login_of(settings: Settings) -> Login:
    return Login(
        settings.username,
        settings.password,
        settings.db,
        settings.tls,
        settings.timeout,
        settings.connect_timeout,
        settings.client_name,
        settings.credentials,
        settings.connections,
    )
