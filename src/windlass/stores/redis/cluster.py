"""A Redis Cluster: which node is the master of which slot.

The map is drawn when first needed and again when a reply contradicts it. The nodes of the URL are
never forgotten, for they may be the only ones left to ask; others are once no node tells of them.
"""

from __future__ import annotations

import random
from binascii import crc_hqx
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, Final

from ...errors import StoreError
from .fault import Lost, refusal
from .io import Io, Link, pack
from .route import Master, Turns, login_of
from .url import Address, Settings

SLOTS: Final = 16_384

_CLUSTER_SLOTS: Final = pack(("CLUSTER", "SLOTS"))
_TELLING: Final = frozenset({"LOST", "READONLY", "CLUSTERDOWN", "MOVED", "MASTERDOWN"})


def slot_of(tag: bytes) -> int:
    """The slot of all keys with this hash tag."""
    return crc_hqx(tag, 0) % SLOTS


class ClusterRoute:
    """A `Route` to many masters; connections are made when a slot is first asked for."""

    def __init__(self, io: Io, settings: Settings) -> None:
        self.closed = False
        self._io = io
        self._login = login_of(settings)
        self._reachable = settings.reachable
        self._given = settings.addresses
        self._nodes: dict[Address, Master] = {}
        self._owners: list[Master | None] = [None] * SLOTS
        self._masters: dict[Master, int] = {}
        self._first: Address | None = None
        self._drawn = -1.0
        self._doubted = 0.0
        self._turns = Turns(io, self._trusted, self._draw)
        for address in settings.addresses:
            self._node(address)

    def close(self) -> None:
        self.closed = True
        for node in self._nodes.values():
            node.close()

    def ready(self, slot: int | None) -> Link | None:
        owner = self._owners[slot] if slot is not None else None
        return owner.ready(slot) if owner is not None else None

    async def link(self, slot: int | None) -> Link:
        if self._trusted() is None:
            await self._turns.take()
        if slot is None:
            return await self._any()
        owner = self._owners[slot]
        if owner is None:
            raise Lost(self._where(), f"no node serves slot {slot}", sent=False)
        return await owner.link(slot)

    async def link_at(self, address: Address) -> Link:
        return await self._node(address).link(None)

    def spread(self) -> Sequence[int | None]:
        return list(self._masters.values())

    def doubt(self, link: Link | None, kind: str) -> None:
        if kind in _TELLING:
            self._doubted = monotonic()

    def moved(self, slot: int, address: Address) -> None:
        self._owners[slot] = self._node(address)
        # It knows of the move; the others may not have heard of it yet.
        self._first = self._reachable.get(address, address)
        self._doubted = monotonic()

    def links(self) -> Iterator[Link]:
        for node in list(self._nodes.values()):
            yield from node.links()

    def serves(self, address: Address) -> bool:
        return self._nodes.get(self._reachable.get(address, address)) in self._masters

    def _node(self, announced: Address) -> Master:
        address = self._reachable.get(announced, announced)
        node = self._nodes.get(address)
        if node is None:
            node = self._nodes[address] = Master(self._io, self._login, address)
            node.closed = self.closed
        return node

    def _trusted(self) -> bool | None:
        return True if self._drawn > self._doubted else None

    def _where(self) -> str:
        return ", ".join(str(address) for address in self._nodes)

    async def _any(self) -> Link:
        failure = Lost(self._where(), "no node serves any slot", sent=False)
        for master in random.sample(list(self._masters), len(self._masters)):
            try:
                return await master.link(None)
            except Lost as lost:
                failure = lost
        self._doubted = monotonic()
        raise failure

    async def _draw(self) -> bool:
        """Draw the map anew as some node sees it."""
        failure: Exception | None = None
        begun = monotonic()
        for address in self._candidates():
            try:
                link = await self._node(address).link(None)
                reply = await link.send(_CLUSTER_SLOTS)
                if isinstance(reply, Exception):
                    raise reply if isinstance(reply, Lost) else _refused(reply, address)
                if not reply:
                    raise Lost(address, "it serves no slots", sent=False)
            except (Lost, StoreError) as error:
                if failure is None or isinstance(failure, Lost):
                    failure = error
                continue
            self._note(reply, address)
            self._drawn = begun
            return True
        assert failure is not None
        if isinstance(failure, Lost):
            raise Lost(self._where(), failure.reason, sent=False)
        raise failure

    def _candidates(self) -> list[Address]:
        """Whom to ask, in order: who told of a move, who is connected, all others."""
        first, self._first = self._first, None

        def rank(address: Address) -> tuple[bool, bool, float]:
            connected = any(self._nodes[address].links())
            return address != first, not connected, random.random()

        return sorted(self._nodes, key=rank)

    def _note(self, reply: list[list[Any]], asked: Address) -> None:
        owners: list[Master | None] = [None] * SLOTS
        masters: dict[Master, int] = {}
        for start, end, *nodes in reply:
            known = [self._node(_address(node, asked)) for node in nodes]
            masters.setdefault(known[0], start)
            owners[start : end + 1] = [known[0]] * (end + 1 - start)
        self._owners, self._masters = owners, masters
        told = {
            address for _, _, *nodes in reply for address in [_address(n, asked) for n in nodes]
        }
        self._forget(told)

    def _forget(self, told: set[Address]) -> None:
        """Nodes that are gone: those of the URL stay, as they may be the only ones left to ask."""
        kept = {self._reachable.get(each, each) for each in (*told, *self._given)}
        for address in self._nodes.keys() - kept:
            node = self._nodes.pop(address)
            node.close()
            for link in node.links():
                link.close("the node left the Cluster")


def _address(node: list[Any], asked: Address) -> Address:
    """A node's address; one without a host is the one that was asked."""
    host = node[0].decode() if node[0] else ""
    return Address(asked.host if host in ("", "?") else host, node[1])


def _refused(reply: Exception, address: Address) -> StoreError:
    if "cluster support disabled" in str(reply):
        return StoreError(
            f"Redis at {address} is no Cluster: write redis:// instead of redis+cluster://."
        )
    return refusal(reply, address)
