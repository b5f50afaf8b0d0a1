"""Leaders and workers: a few small things that one shard keeps for all."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final, get_args

import msgspec

from ...core.workers import Order, Term, WorkerInfo
from ..contract import LONGEST_TERM
from .portions import parts
from .record import encode
from .shard import Shard

log = logging.getLogger("windlass")

TERM_BYTES: Final = 16
"""The number of a term and its end, before the name of who has it."""

ROSTER: Final = ("workers", "heard", "orders")

replace = msgspec.structs.replace

_ORDERS: Final[dict[bytes, Order]] = {order.encode(): order for order in get_args(Order)}

_decode = msgspec.msgpack.Decoder(WorkerInfo).decode


async def elect(shard: Shard, role: str, holder: str, ttl: int) -> Term | None:
    won = await shard.run_on("elect", ["terms"], [role, holder, ttl, LONGEST_TERM])
    return None if won is None else Term(holder, *won)


async def leaders(shard: Shard) -> Mapping[str, Term]:
    found = await shard.send("HGETALL", "terms")
    terms = {
        role.decode(errors="replace"): _term(entry)
        for role, entry in zip(found[::2], found[1::2], strict=True)
        if len(entry) > TERM_BYTES
    }
    return {role: term for role, term in terms.items() if term.expires_at}


def latest(found: Mapping[int, Mapping[str, Term]]) -> Mapping[str, Term]:
    """Of what shards know, the terms that end last: while one is away, another elects."""
    known: dict[str, Term] = {}
    for terms in found.values():
        for role, term in terms.items():
            if role not in known or known[role].expires_at < term.expires_at:
                known[role] = term
    return known


def _term(entry: bytes) -> Term:
    number, expires_at = (int.from_bytes(entry[at : at + 8], "big") for at in (0, 8))
    return Term(entry[TERM_BYTES:].decode(errors="replace"), number, expires_at)


async def resign(shard: Shard, role: str, holder: str) -> None:
    await shard.run_on("resign", ["terms"], [role, holder])


async def beat(shard: Shard, worker: WorkerInfo, ttl: int) -> Order | None:
    order = await shard.run_on("beat", ROSTER, [worker.id, encode(worker), ttl])
    return _ORDERS.get(order)


async def leave(shard: Shard, worker: str) -> None:
    await shard.run_on("leave", ROSTER, [worker])


async def dismiss(shard: Shard, worker: str) -> None:
    """Give up what a worker led, and take it off the list."""
    await shard.run_on("dismiss", ["terms", *ROSTER], [worker])


async def direct(shard: Shard, workers: Sequence[str], order: Order) -> frozenset[str]:
    found: list[bytes] = []
    for part in parts(workers):
        found += await shard.run_on("direct", ["orders", "heard"], [order, *part])
    return frozenset(worker.decode() for worker in found)


async def workers(shard: Shard) -> Sequence[WorkerInfo]:
    found = await shard.run_on("workers", ROSTER)
    pairs = zip(found[::2], found[1::2], strict=True)
    infos = [info for entry, order in pairs if entry and (info := _read(entry, order)) is not None]
    return sorted(infos, key=lambda info: info.id)


def _read(entry: bytes, order: bytes) -> WorkerInfo | None:
    try:
        seen_at = int.from_bytes(entry[:8], "big")
        return replace(_decode(entry[8:]), seen_at=seen_at, order=_ORDERS.get(order))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Its next beat takes the place of this one.
        log.warning("what a worker told of itself is damaged and left out: %s", error)
        return None
