"""What scripts answer, as values of the domain."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from ...core.model import Job, NewJob, QueueStats, Receipt
from ...core.states import State
from .record import (
    HAS_CHECKPOINT,
    HAS_ERROR,
    HAS_LARGE,
    HAS_MAIL,
    HAS_PROGRESS,
    HAS_RESULT,
    UNREADABLE,
    Sides,
    place_of,
    read,
    unpack_id,
)

log = logging.getLogger("windlass")

ROW_SIZE: Final = 10
LANE_ROW_SIZE: Final = 4

Owed = tuple[str, str, str]
"""A name that another shard keeps for a job and is to give up: kind, id, name."""


class Row(NamedTuple):
    """A job of a listing, and its place."""

    job: Job
    place: int


class LaneRow(NamedTuple):
    """A lane as one shard has it."""

    queue: str
    name: str
    limits: bytes | None
    """as `traits` packs them; None if they are damaged"""
    holders: int
    waiting: int


def read_lane_rows(values: Sequence[Any]) -> Iterator[LaneRow]:
    """The lanes in an answer of four values each (see `lua/find_lanes.lua`)."""
    for at in range(0, len(values), LANE_ROW_SIZE):
        listed, limits, holders, waiting = values[at : at + LANE_ROW_SIZE]
        queue, _, name = listed.decode().partition("\0")
        yield LaneRow(queue, name, limits, holders, waiting)


def looked_at(values: Sequence[Any]) -> int | None:
    """How many jobs a script looked at that had no room for more; None if it came to its end."""
    return int(values[-1]) if len(values) % ROW_SIZE else None


def read_rows(values: Sequence[Any], ref: int, *, brief: bool = False) -> Iterator[Row]:
    """The jobs in an answer of ten values each (see `lua/shared/show.lua`)."""
    for at in range(0, len(values) - ROW_SIZE + 1, ROW_SIZE):
        raw, record, until, *rest = values[at : at + ROW_SIZE]
        sides = Sides(None if until is None else int(until), *rest)
        try:
            row = Row(read(raw, record, sides, ref, brief=brief), place_of(record))
        except UNREADABLE as error:
            log.warning("job %s is damaged and left out: %s", unpack_id(raw), error)
            continue
        yield row


def read_receipts(jobs: Sequence[NewJob | Job], refused: Sequence[Any]) -> list[Receipt]:
    """Receipts of jobs; `refused` has position and holder of those that were not taken."""
    receipts = [Receipt(job.id) for job in jobs]
    for n, holder in zip(refused[::2], refused[1::2], strict=True):
        id, job = unpack_id(holder) if holder else "", jobs[n]
        # An id that was made for a job can only be its own, stored when an answer was lost.
        own = isinstance(job, NewJob) and job.fresh and id == job.id
        receipts[n] = Receipt(id, duplicate=not own)
    return receipts


def read_owed(values: Sequence[bytes]) -> list[Owed]:
    triples = zip(values[::3], values[1::3], values[2::3], strict=True)
    return [
        (kind.decode(), unpack_id(id), unpack_id(name) if kind == b"i" else name.decode())
        for kind, id, name in triples
    ]


FLAGS_AT: Final = 17
MORE_AT: Final = 19
SIDES: Final = (
    (FLAGS_AT, HAS_LARGE, "large", "large"),
    (FLAGS_AT, HAS_ERROR, "errors", "error"),
    (FLAGS_AT, HAS_RESULT, "results", "result"),
    (MORE_AT, HAS_PROGRESS, "progress", "progress"),
    (MORE_AT, HAS_CHECKPOINT, "checkpoints", "checkpoint"),
    (MORE_AT, HAS_MAIL, "mail", "mail"),
)
ANY_SIDE: Final = HAS_LARGE | HAS_ERROR | HAS_RESULT
ANY_MORE: Final = HAS_PROGRESS | HAS_CHECKPOINT | HAS_MAIL


def wanted_sides(records: Sequence[bytes]) -> Iterator[tuple[str, str, list[int]]]:
    """What is kept beside records and is to be fetched: key, field, positions."""
    some = [n for n, r in enumerate(records) if r[FLAGS_AT] & ANY_SIDE or r[MORE_AT] & ANY_MORE]
    for at, flag, name, field in SIDES if some else ():
        positions = [n for n in some if records[n][at] & flag]
        if positions:
            yield name, field, positions


def stats(answers: Iterable[Sequence[tuple[str, State | None, int]]]) -> list[QueueStats]:
    """Counts of all shards by queue; the parts of one queue are added up."""
    counts: dict[str, Counter[State]] = {}
    paused: set[str] = set()
    for queue, state, number in chain.from_iterable(answers):
        counter = counts.setdefault(queue, Counter())
        if state is None:
            paused.add(queue)
        else:
            counter[state] += number
    return [QueueStats(name, dict(counts[name]), name in paused) for name in sorted(counts)]
