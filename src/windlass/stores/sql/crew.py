"""Workers on their list, and the orders that were left for them."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.workers import Order, WorkerInfo
from .fields import decode_worker, encode_worker
from .operation import Bulk, Operation, Statement
from .rows import json_array


def beat(worker: WorkerInfo, ttl: int, now: int) -> Operation[Order | None]:
    until = now + ttl
    info = encode_worker(worker)
    yield Statement("beat", {"id": worker.id, "info": info, "now": now, "expires_at": until})
    # An order ends with the entry that it was left for, so both are prolonged together.
    rows = yield Statement("order", {"id": worker.id, "now": now, "expires_at": until})
    return rows[0][0] if rows else None


def leave(worker: str) -> Operation[None]:
    yield Statement("leave", {"id": worker})
    yield Statement("drop_order", {"id": worker})


def listed(now: int) -> Operation[Sequence[WorkerInfo]]:
    rows = yield Statement("workers", {"now": now})
    return [decode_worker(*row) for row in rows]


def direct(workers: Sequence[str], order: Order, now: int) -> Operation[frozenset[str]]:
    if not workers:
        return frozenset()
    ids = json_array(sorted(set(workers)))
    rows = yield Statement("known_workers", {"ids": ids, "now": now})
    if rows:
        yield Bulk("put_order", [(id, order, until) for id, until in sorted(rows)])
    return frozenset(id for id, _ in rows)


def forget(now: int) -> Operation[None]:
    """Drop what is no longer listed."""
    yield Statement("forget_workers", {"now": now})
    yield Statement("forget_orders", {"now": now})
