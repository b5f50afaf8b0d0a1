"""What attempts came to and logged, as rows: one record each, which only we read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.attempts import (
    MOST_ATTEMPTS,
    AttemptRecord,
    decode_attempt,
    encode_attempt,
    newest,
)
from .operation import Bulk, Operation, Row, Statement
from .rows import json_array


def note(records: Sequence[AttemptRecord], until: int) -> Operation[None]:
    # In one order everywhere, as all who change several rows do.
    by_job = newest(records)
    rows: list[Row] = [
        (each.id, each.fence, until, encode_attempt(each))
        for these in by_job.values()
        for each in these
    ]
    if rows:
        yield Bulk("note_attempt", rows)
        yield Bulk("trim_attempts", [(id, MOST_ATTEMPTS) for id in by_job])


def kept(ids: Sequence[str], now: int) -> Operation[Mapping[str, Sequence[AttemptRecord]]]:
    """Those of each job, but damaged ones."""
    found: dict[str, list[AttemptRecord]] = {}
    if ids:
        wanted = json_array(list(dict.fromkeys(ids)))
        for (record,) in (yield Statement("attempts", {"ids": wanted, "now": now})):
            attempt = decode_attempt(record)
            if attempt is not None:
                found.setdefault(attempt.id, []).append(attempt)
    for records in found.values():
        records.sort(key=lambda each: each.fence)
    return found


def drop(ids: Sequence[str]) -> Operation[None]:
    """Forget what deleted jobs left."""
    yield Bulk("drop_attempts", [(id,) for id in sorted(ids)])
