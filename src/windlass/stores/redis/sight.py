"""What one shard tells, without changing anything."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final, NamedTuple

import msgspec

from ...core.clock import Clock
from ...core.model import Job, Spec, brief, decode_spec
from ...core.states import REPLAYABLE, State
from .access import Access
from .keys import Keys
from .places import Places
from .portions import LARGEST_CALL, parts
from .record import (
    CODES,
    HAS_LARGE,
    HEAD_SIZE,
    NOT_SHOWN,
    STATE_AT,
    STATES,
    UNREADABLE,
    Sides,
    is_ghost,
    pack_id,
    pack_queue,
    queue_of,
    read,
    remote_key,
    unpack_queue,
)
from .replies import FLAGS_AT, LaneRow, Row, looked_at, read_lane_rows, read_rows
from .together import together
from .transport import Transport

COUNTS_AT_ONCE: Final = 1_000
MOST_BUSY: Final = 1_000
COUNTED: Final = frozenset(b"%d" % code for code in range(len(STATES))) | {b"P"}
HEADS_AT_ONCE: Final = 50
"""The most queues whose first jobs one script looks at: each may have some of every priority."""

SCRIPTS_AT_ONCE: Final = 4
"""So many of these are sent without waiting for an answer: others must get their turn."""


SHOWN: Final = 2 * 1024 * 1024
"""The bytes that one script shows, but for the last job's."""

SPECS_AT_ONCE: Final = 2
"""So many large specs are fetched at once."""


class Show(NamedTuple):
    """What to show of jobs: so many bytes, and 1 to leave out what may be large."""

    most_bytes: int = SHOWN
    brief: int = 0


ALL: Final = Show()


class Known(NamedTuple):
    """What one shard knows of some jobs."""

    queues: dict[str, str]
    """of those that are here"""
    awaited: Set[str]
    """those that are not, and that others wait for here"""


class Sight(Access):
    """Looks into one shard of several."""

    def __init__(
        self,
        places: Places,
        transport: Transport,
        keys: Keys,
        channel: str,
        clock: Clock | None,
    ) -> None:
        super().__init__(transport, keys, channel, clock)
        self.number = places.shard
        self.ref = places.shard + 1
        self.places = places

    async def get(self, ids: Sequence[str]) -> dict[str, Job]:
        found: dict[str, Job] = {}
        left = list(ids)
        while left:
            jobs, number = await self.some(left, ALL)
            found |= jobs
            left = left[number:]
        return found

    async def some(self, ids: Sequence[str], show: Show) -> tuple[dict[str, Job], int]:
        """The first of these jobs, as many as there is room for; how many were looked at."""
        asked = ids[:LARGEST_CALL]
        values = await self.run("get", (), [*show, *map(pack_id, asked)])
        rows = await self.read_shown(values, show)
        return {row.job.id: row.job for row in rows}, looked_at(values) or len(asked)

    async def read_shown(self, values: Sequence[Any], show: Show) -> list[Row]:
        """The jobs in an answer. A brief one lacks the specs of some that are beside records."""
        rows = list(read_rows(values, self.ref, brief=bool(show.brief)))
        if not show.brief:
            return rows
        lacking = [n for n, row in enumerate(rows) if row.job.spec is NOT_SHOWN]
        for part in parts(lacking, SPECS_AT_ONCE):
            ids = [pack_id(rows[n].job.id) for n in part]
            for n, spec in zip(part, await self.send("HMGET", "large", *ids), strict=True):
                job = msgspec.structs.replace(rows[n].job, spec=decode_spec(spec or b""))
                rows[n] = rows[n]._replace(job=job)
        return [row._replace(job=brief(row.job)) for row in rows]

    async def next_work(self, queues: Sequence[str]) -> int | None:
        """Milliseconds until one of these queues, or any if none is named, has work."""
        names = [pack_queue(queue) for queue in queues]
        answer: int | None = await self.run_on("next_work", ["work"], names)
        return answer

    async def busy(self, queues: Sequence[str]) -> set[str]:
        """Which of these queues have work now."""
        names = [pack_queue(queue) for queue in queues]
        found = await self.run_on("busy", ["work"], [MOST_BUSY, *names])
        return set(queues) & set(map(unpack_queue, found))

    async def expired(self, limit: int) -> list[int]:
        """When the leases ended that ran out, longest ago first."""
        ends: list[int] = await self.run_on("expired", ["leases"], [limit])
        return ends

    async def _records(self, ids: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for part in parts(ids):
            records = await self.send("HMGET", "jobs", *map(pack_id, part))
            found |= {id: raw for id, raw in zip(part, records, strict=True) if raw is not None}
        return found

    async def located(self, ids: Sequence[str]) -> dict[str, str]:
        """The queues of those jobs that are here."""
        return (await self.known(ids)).queues

    async def known(self, ids: Sequence[str]) -> Known:
        """What is known here of these jobs."""
        records = await self._records(ids)
        here = {id: queue_of(raw) for id, raw in records.items() if not is_ghost(raw)}
        return Known(here, records.keys() - here.keys())

    async def related(self, ids: Sequence[str]) -> dict[str, Spec]:
        """Those that depend on others and can be replayed, with their specs."""
        found = await self._records(ids)
        codes = {CODES[state] for state in REPLAYABLE}
        records = {
            id: raw for id, raw in found.items() if len(raw) >= HEAD_SIZE and raw[STATE_AT] in codes
        }
        large = [id for id, raw in records.items() if raw[FLAGS_AT] & HAS_LARGE]
        specs: dict[str, bytes] = {}
        for part in parts(large):
            values = await self.send("HMGET", "large", *map(pack_id, part))
            specs |= dict(zip(part, values, strict=True))
        related: dict[str, Spec] = {}
        for id, raw in records.items():
            try:
                spec = read(pack_id(id), raw, Sides(large=specs.get(id))).spec
            except UNREADABLE:
                continue  # damaged: it is not replayed
            if spec.parents:
                related[id] = spec
        return related

    async def blocked(
        self, after: str | None, limit: int, show: Show
    ) -> tuple[dict[str, Job], bool]:
        """The first blocked jobs by id, and whether there was no room for others."""
        low = "-" if after is None else f"({after}"
        found = await self.send("ZRANGEBYLEX", "blocked", low, "+", "LIMIT", 0, limit)
        if not found:
            return {}, False
        jobs, number = await self.some([id.decode() for id in found], show)
        return jobs, number < len(found)

    async def remote_keys(self, ids: Sequence[str]) -> dict[str, str]:
        """The unique keys that other shards keep for these jobs, of those that can be replayed."""
        records = await self.send("HMGET", "jobs", *map(pack_id, ids))
        return {
            id: key
            for id, record in zip(ids, records, strict=True)
            if record is not None and (key := remote_key(record)) is not None
        }

    async def counts(self) -> list[tuple[str, State | None, int]]:
        """Queue, state and number, for each that is not 0; without a state it is paused."""
        fields: dict[bytes, bytes] = {}
        cursor: int | bytes = 0
        while cursor != b"0":
            cursor, found = await self.send("HSCAN", "counts", cursor, "COUNT", COUNTS_AT_ONCE)
            fields.update(zip(found[::2], found[1::2], strict=True))
        # What is no count of ours was written by somebody else.
        return [
            (
                unpack_queue(field[1:]),
                None if field[:1] == b"P" else STATES[int(field[:1])],
                int(number),
            )
            for field, number in fields.items()
            if field[:1] in COUNTED and number.removeprefix(b"-").isdigit()
        ]

    async def oldest(self, queues: Sequence[str]) -> dict[str, int]:
        """Since when jobs of these queues have been pending, of those that have any."""
        found: dict[str, int] = {}
        for some in parts([*parts(queues, HEADS_AT_ONCE)], SCRIPTS_AT_ONCE):
            for answer in await together([self._heads(part) for part in some]):
                found |= answer
        return found

    async def _heads(self, queues: Sequence[str]) -> dict[str, int]:
        keys = [self._keys.of("jobs"), *(self._keys.pair(queue)[0] for queue in queues)]
        times = await self.run_with("oldest", keys, ())
        return {queue: time for queue, time in zip(queues, times, strict=True) if time is not None}

    async def lanes(self, queue: str, name: str, limit: int) -> list[LaneRow]:
        """The first lanes after this one, by queue and name."""
        after = f"{queue}\0{name}" if queue else ""
        return list(read_lane_rows(await self.run("find_lanes", (), [limit, after])))
