"""Listing jobs over all shards, a bounded page at a time.

Each shard gives the first of its jobs after a key; the first of all of them, merged, are the
first jobs of the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ...core.model import Job, JobQuery, Page, brief, weight
from ...core.states import FINISHED, State
from ..contract import PAGE_BYTES, SCAN_BATCH
from ..cursor import KEY_TYPES, Cursor, Key, plan
from .lookout import Lookout
from .portions import parts
from .record import CODES, line_score, pack_id, pack_key
from .replies import Row, read_rows
from .shard import Shard

LISTING: Final = 2.0
"""Seconds for the page of a shard, which may be large."""

LARGEST_ROUND: Final = 200
QUEUES_AT_ONCE: Final = 50

Keyed = tuple[Key, Job]

ORDERED: Final = (State.SCHEDULED, State.RETRY, *FINISHED)
TYPES: Final = {**KEY_TYPES, **{state: (*KEY_TYPES[state], str) for state in ORDERED}}
"""By the id at last, as it sorts here: jobs of groups may have had the same place, one after the
other."""


async def find(shards: Sequence[Shard], lookout: Lookout, query: JobQuery) -> Page:
    found: list[Job] = []
    scanned = heft = 0
    seen: Cursor | None = None
    for state, start in plan(query, TYPES):
        after = start
        while True:
            room = SCAN_BATCH - scanned if query.filters else query.limit - len(found)
            size = min(room, LARGEST_ROUND) + 1
            rows = await _first(shards, lookout, query.queue, state, after, size)
            for key, job in rows:
                if len(found) == query.limit or scanned == SCAN_BATCH or heft >= PAGE_BYTES:
                    return Page(found, seen.encode() if seen else None)
                scanned += 1
                after, seen = key, Cursor(state, key)
                if query.matches(job):
                    found.append(brief(job) if query.brief else job)
                    heft += weight(found[-1])
            if len(rows) < size:
                break
    return Page(found)


async def _first(
    shards: Sequence[Shard],
    lookout: Lookout,
    queue: str | None,
    state: State,
    after: Key | None,
    size: int,
) -> list[Keyed]:
    """The first `size` jobs after a key, of all shards that are there."""
    if len(shards) == 1:
        return (await _of_shard(shards[0], queue, state, after, size))[:size]
    answers = await lookout.ask(
        range(len(shards)),
        lambda number: _of_shard(shards[number], queue, state, after, size),
        LISTING,
    )
    merged = [keyed for answer in answers.values() for keyed in answer]
    return sorted(merged, key=lambda keyed: keyed[0], reverse=state in FINISHED)[:size]


async def _of_shard(
    shard: Shard, queue: str | None, state: State, after: Key | None, size: int
) -> list[Keyed]:
    match state:
        case State.PENDING | State.SCHEDULED | State.RETRY:
            return await _waiting(shard, queue, state, after, size)
        case State.ACTIVE:
            return await _active(shard, after, size)
        case State.BLOCKED:
            found = await shard.blocked(None if after is None else str(after[0]), size)
            return [((id,), job) for id, job in found.items()]
    return await _finished(shard, state, after, size)


async def _waiting(
    shard: Shard, queue: str | None, state: State, after: Key | None, size: int
) -> list[Keyed]:
    if queue is None:
        names = sorted(name for name, has, _ in await shard.counts() if has is state)
    else:
        names = [queue]  # without a look at all the others
    first = "" if after is None else str(after[0])
    names = [name for name in names if name >= first]
    found: list[Keyed] = []
    for part in parts(names, QUEUES_AT_ONCE):
        bound = after if after is not None and part[0] == first else None
        words = _bound(shard, state, bound)
        script = "find_pending" if state is State.PENDING else "find_later"
        rows = read_rows(await shard.run(script, part, [size - len(found), *words]), shard.ref)
        found += [(_waiting_key(shard, row), row.job) for row in rows]
        if len(found) >= size:
            break
    return found


def _bound(shard: Shard, state: State, after: Key | None) -> list[str | bytes | int]:
    """Where the first queue's listing goes on, as its script takes it."""
    if state is State.PENDING:
        if after is None:
            return ["-inf"]
        _, minus_priority, place = after
        return [f"({line_score(-int(minus_priority), shard.places.after(int(place)))}"]
    if after is None:
        return [CODES[state], b""]
    _, due, place, id = after
    bound = pack_key(int(due), shard.places.after(int(place)))
    return [CODES[state], bound + _own_id(shard, int(place), str(id))]


def _waiting_key(shard: Shard, row: Row) -> Key:
    job, place = row.job, shard.places.wide(row.place)
    if job.state is State.PENDING:
        return job.queue, -job.priority, place
    return job.queue, job.due, place, pack_id(job.id).hex()


def _own_id(shard: Shard, place: int, id: str) -> bytes:
    """The id of the last job seen, if it is of this shard: no other has its place."""
    return bytes.fromhex(id) if shard.places.owns(place) else b""


async def _active(shard: Shard, after: Key | None, size: int) -> list[Keyed]:
    """Whole claims, until there are enough: within a claim, jobs are listed by id."""
    found: list[Keyed] = []
    bound: str | bytes = "-inf" if after is None else str(after[0])
    while len(found) < size:
        last, values = await shard.run("find_active", (), [size, bound])
        found += sorted(_after(after, read_rows(values, shard.ref)), key=lambda keyed: keyed[0])
        if last is None:
            break
        bound = b"(" + last
    return found


def _after(after: Key | None, rows: Iterable[Row]) -> Iterable[Keyed]:
    for row in rows:
        key: Key = (row.job.fence, row.job.id)
        if after is None or key > after:
            yield key, row.job


async def _finished(shard: Shard, state: State, after: Key | None, size: int) -> list[Keyed]:
    bound = b""
    if after is not None:
        moment, place, id = int(after[0]), int(after[1]), str(after[2])
        bound = pack_key(moment, shard.places.before(place)) + _own_id(shard, place, id)
    values = await shard.run("find_finished", (), [size, CODES[state], bound])
    rows = read_rows(values, shard.ref)
    return [(_finished_key(shard, row), row.job) for row in rows]


def _finished_key(shard: Shard, row: Row) -> Key:
    place, id = shard.places.wide(row.place), pack_id(row.job.id)
    return row.job.finished_at or 0, place, id.hex()
