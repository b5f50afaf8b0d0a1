"""Listing jobs over all shards, a bounded page at a time.

Each shard gives the first of its jobs after a key; the first of all of them, merged, are the
first jobs of the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ...core.model import Job, JobQuery, Page, size_of
from ...core.states import FINISHED, State
from ..contract import PAGE_BYTES, SCAN_BATCH
from ..cursor import KEY_TYPES, Cursor, Key, plan
from .io import Word
from .lookout import Lookout
from .portions import parts
from .record import CODES, line_score, pack_id, pack_key
from .replies import Row, looked_at
from .shard import Shard
from .sight import SHOWN, Show

LISTING: Final = 2.0
"""Seconds for the page of a shard, which may be large."""

BRIEF: Final = Show(brief=1)

LARGEST_ROUND: Final = 200
QUEUES_AT_ONCE: Final = 50

Keyed = tuple[Key, Job]

ORDERED: Final = (State.SCHEDULED, State.RETRY, *FINISHED)
TYPES: Final = {**KEY_TYPES, **{state: (*KEY_TYPES[state], str) for state in ORDERED}}
"""By the id at last, as it sorts here: jobs of groups may have had the same place, one after the
other."""


class Part(NamedTuple):
    """The first jobs after a key. If it is `cut`, there was no room for those behind the last."""

    rows: Sequence[Keyed]
    cut: bool = False


class Ask(NamedTuple):
    """What is asked of each shard."""

    queue: str | None
    state: State
    after: Key | None
    size: int
    show: Show


async def find(shards: Sequence[Shard], lookout: Lookout, query: JobQuery) -> Page:
    found: list[Job] = []
    scanned = heft = 0
    seen: Cursor | None = None
    show = Show(SHOWN // len(shards), int(query.brief))
    for state, start in plan(query, TYPES):
        after, more = start, True
        while more:
            room = SCAN_BATCH - scanned if query.filters else query.limit - len(found)
            size = min(room, LARGEST_ROUND) + 1
            rows, cut = await _first(shards, lookout, Ask(query.queue, state, after, size, show))
            for key, job in rows:
                if len(found) == query.limit or scanned == SCAN_BATCH or heft >= PAGE_BYTES:
                    return Page(found, seen.encode() if seen else None)
                scanned += 1
                after, seen = key, Cursor(state, key)
                if query.matches(job):
                    found.append(job)
                    heft += size_of(job)
            more = cut or len(rows) == size
    return Page(found)


async def _first(shards: Sequence[Shard], lookout: Lookout, ask: Ask) -> Part:
    """The first jobs after a key, of all shards that are there."""
    if len(shards) == 1:
        part = await _of_shard(shards[0], ask)
        return part._replace(rows=part.rows[: ask.size])
    answers = await lookout.ask(
        range(len(shards)), lambda number: _of_shard(shards[number], ask), LISTING
    )
    down = ask.state in FINISHED
    ends = [part.rows[-1][0] for part in answers.values() if part.cut and part.rows]
    # Behind the end of one that was cut there may be jobs of it before those of others.
    end = (max if down else min)(ends) if ends else None
    rows = [
        keyed
        for part in answers.values()
        for keyed in part.rows
        if end is None or (keyed[0] >= end if down else keyed[0] <= end)
    ]
    return Part(sorted(rows, key=lambda keyed: keyed[0], reverse=down)[: ask.size], bool(ends))


async def _of_shard(shard: Shard, ask: Ask) -> Part:
    match ask.state:
        case State.PENDING | State.SCHEDULED | State.RETRY:
            return await _waiting(shard, ask)
        case State.ACTIVE:
            return await _active(shard, ask)
        case State.BLOCKED:
            after = None if ask.after is None else str(ask.after[0])
            found, cut = await shard.blocked(after, ask.size, ask.show)
            return Part([((id,), job) for id, job in found.items()], cut)
    return await _finished(shard, ask)


async def _waiting(shard: Shard, ask: Ask) -> Part:
    queue, state, after, size, show = ask
    if queue is None:
        names = sorted(name for name, has, _ in await shard.counts() if has is state)
    else:
        names = [queue]  # without a look at all the others
    first = "" if after is None else str(after[0])
    names = [name for name in names if name >= first]
    found: list[Keyed] = []
    for part in parts(names, QUEUES_AT_ONCE):
        bound = after if after is not None and part[0] == first else None
        words = [*show, size - len(found), *_bound(shard, state, bound)]
        script = "find_pending" if state is State.PENDING else "find_later"
        values = await shard.run(script, part, words)
        rows = await shard.read_shown(values, show)
        found += [(_waiting_key(shard, row), row.job) for row in rows]
        if looked_at(values) is not None:
            return Part(found, cut=True)
        if len(found) >= size:
            break
    return Part(found)


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


async def _active(shard: Shard, ask: Ask) -> Part:
    """Whole claims, until there are enough: within a claim, jobs are listed by id."""
    found: list[Keyed] = []
    bound: str | bytes = "-inf" if ask.after is None else str(ask.after[0])
    while len(found) < ask.size:
        last, values = await shard.run("find_active", (), [*BRIEF, ask.size, bound])
        rows = await shard.read_shown(values, BRIEF)
        found += sorted(_after(ask.after, rows), key=lambda keyed: keyed[0])
        if last is None:
            break
        bound = b"(" + last
    if ask.show.brief or not found:
        return Part(found)
    jobs, number = await shard.some([job.id for _, job in found], ask.show)
    # Those that have not ended meanwhile.
    whole = [(key, jobs[job.id]) for key, job in found[:number] if _is_same(jobs.get(job.id), job)]
    return Part(whole, cut=number < len(found))


def _is_same(now: Job | None, before: Job) -> bool:
    return now is not None and (now.state, now.fence) == (before.state, before.fence)


def _after(after: Key | None, rows: Iterable[Row]) -> Iterable[Keyed]:
    for row in rows:
        key: Key = (row.job.fence, row.job.id)
        if after is None or key > after:
            yield key, row.job


async def _finished(shard: Shard, ask: Ask) -> Part:
    bound = b""
    if ask.after is not None:
        moment, place, id = int(ask.after[0]), int(ask.after[1]), str(ask.after[2])
        bound = pack_key(moment, shard.places.before(place)) + _own_id(shard, place, id)
    words: list[Word] = [*ask.show, ask.size, CODES[ask.state], bound]
    values = await shard.run("find_finished", (), words)
    rows = await shard.read_shown(values, ask.show)
    return Part(
        [(_finished_key(shard, row), row.job) for row in rows], looked_at(values) is not None
    )


def _finished_key(shard: Shard, row: Row) -> Key:
    place, id = shard.places.wide(row.place), pack_id(row.job.id)
    return row.job.finished_at or 0, place, id.hex()
