"""The operations on one shard: each is one script, with the values of the domain on this side.

A shard is a store by itself, complete but for what spans several: ids and unique keys that
other shards must know of (see `names`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from ...core.clock import Clock
from ...core.model import Job, Lease, NewJob, Progress, Receipt, Transition
from ..contract import CLAIM_BYTES
from .edges import Ending
from .io import Word
from .keys import Keys, attempts_of
from .packing import NOBODY, Follower, Packed, finish_words, insert_words, pack_plain
from .places import Places
from .portions import light_parts, parts
from .record import (
    NO_SIDES,
    Claimed,
    Sides,
    encode,
    pack_id,
    pack_number,
    pack_queue,
    read,
    read_claimed,
    unpack_id,
    unpack_queue,
)
from .replies import Owed, read_owed, read_receipts, wanted_sides
from .sight import Sight
from .together import together
from .tokens import Tokens
from .transport import Transport

LARGEST_CLAIM: Final = 500
LARGEST_PROMOTION: Final = 250
PLAIN_KEYS: Final = 4
LARGE_SIDES: Final = frozenset({"large", "results", "checkpoints", "mail"})
SIDES_AT_ONCE: Final = 2
"""So many of these, which may have a megabyte each, one command fetches."""
LOOKED_AT: Final = 1_000
"""So many active jobs one script looks at, for those of one worker."""


class Answer(NamedTuple):
    """The ids that an operation was carried out for, and what it owes to other shards."""

    ids: frozenset[str]
    owed: Sequence[Owed] = ()
    endings: Sequence[Ending] = ()
    """what it owes to dependents"""
    damaged: frozenset[str] = frozenset()
    """those that were to be deleted, and do not tell where they stand"""


class Accepted(NamedTuple):
    """What became of jobs that came in, and what is owed by those that ended at once."""

    receipts: list[Receipt]
    owed: Sequence[Owed] = ()
    endings: Sequence[Ending] = ()


class Taken(NamedTuple):
    """What a claim gave, and what it owes to other shards."""

    jobs: list[Job]
    owed: Sequence[Owed] = ()
    led: int = 0
    """how many of them count for the most that were asked for: not those that came along"""
    left: int = 0
    """how many of the bytes asked for; less than none if the claim ended for want of them"""


class Terms(NamedTuple):
    """On what terms a claim is made."""

    lease: int
    worker: str
    token: str
    beyond: int
    most_bytes: int
    elsewhere: int


class Shard(Sight):
    """One shard of several."""

    def __init__(
        self,
        places: Places,
        transport: Transport,
        keys: Keys,
        channel: str,
        clock: Clock | None,
    ) -> None:
        super().__init__(places, transport, keys, channel, clock)
        self._tokens = Tokens()

    # -- the way of a job ----------------------------------------------------------------

    async def insert_plain(self, jobs: Sequence[NewJob]) -> list[Receipt] | None:
        """Insert jobs if all of them are plain, as most are; None if one is not."""
        if len(jobs) == 1:
            return await self._insert_one(jobs[0])
        records: list[bytes] = []
        for job in jobs:
            record = pack_plain(job)
            if record is None:
                return None
            records.append(record)
        ids = [pack_id(job.id) for job in jobs]
        words: list[Word] = [len(ids), int(len(set(ids)) == len(ids))]
        for raw, record in zip(ids, records, strict=True):
            words += (raw, record)
        refused = await self.run("insert_plain", queues_of(jobs), words, fixed=PLAIN_KEYS)
        return read_receipts(jobs, refused)

    async def _insert_one(self, job: NewJob) -> list[Receipt] | None:
        record = pack_plain(job)
        if record is None:
            return None
        words = (self._channel, pack_queue(job.queue), job.priority, pack_id(job.id), record)
        accepted = await self.run_with("insert_one", self._keys.for_one(job.queue), words)
        # An id that was made for a job can only be its own, stored when an answer was lost.
        return [Receipt(job.id, duplicate=not (accepted or job.fresh))]

    async def insert_packed(
        self,
        jobs: Sequence[NewJob],
        packed: Sequence[Packed],
        *,
        ask_names: bool = False,
        parents: Sequence[Word] = (),
        followers: Mapping[int, Follower] = NOBODY,
        queues: Collection[str] = (),
    ) -> tuple[Accepted, list[Any]]:
        """Insert jobs that make use of more; and what must be known first of their parents, or of
        who holds their keys, if nothing was done. `queues` are those of such holders."""
        ids = [pack_id(job.id) for job in jobs]
        words = [*insert_words(ids, packed, ask_names, followers), *parents]
        needed = list(dict.fromkeys([*queues_of(jobs), *queues]))
        refused, owed, unsaid = await self.run("insert", needed, words)
        return Accepted(read_receipts(jobs, refused), read_owed(owed)), unsaid

    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        beyond: int = 0,
        most_bytes: int = CLAIM_BYTES,
        elsewhere: int = 0,
    ) -> Taken:
        """Claim jobs, with a fence that is greater than `beyond`; so many came from elsewhere."""
        return await self._claim_by(
            self._tokens.make(), queues, limit, lease, worker, beyond, most_bytes, elsewhere
        )

    @property
    def has_lost_claims(self) -> bool:
        """Whether there were claims, of any worker of this process, whose answers were lost."""
        return self._tokens.some_are_lost

    async def claimed_before(self, lease: int, worker: str) -> Taken | None:
        """What a claim of this worker took whose answer was lost, if there was one: from whatever
        queues it asked for, which need not be those that are asked for now."""
        token = self._tokens.take_lost(worker)
        return None if token is None else await self._claim_by(token, {}, 0, lease, worker)

    async def _claim_by(
        self,
        token: str,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        beyond: int = 0,
        most_bytes: int = CLAIM_BYTES,
        elsewhere: int = 0,
    ) -> Taken:
        terms = Terms(lease, worker, token, beyond, most_bytes, elsewhere)
        try:
            return await self._claim(queues, limit, terms)
        except BaseException:
            self._tokens.lose(worker, token)
            raise

    async def _claim(self, queues: Mapping[str, int], limit: int, terms: Terms) -> Taken:
        lease, worker, token, beyond, most_bytes, elsewhere = terms
        numbers = (min(limit, LARGEST_CLAIM), LARGEST_PROMOTION, beyond)
        bounds = (*numbers, most_bytes, elsewhere)
        fence, now, again, ids, records, owed, led, left = await self.run(
            "claim",
            list(queues),
            [lease, worker, token, *bounds, *queues.values()],
            more=(self._keys.token(worker),),
        )
        if not ids:
            return Taken([], left=left)
        sides = await self._sides_of(ids, records)
        claimed = Claimed(worker, fence, now, now + lease, self.ref)
        if again:
            return Taken(self._read(ids, records, sides, claimed.until), led=led, left=left)
        jobs = [
            read_claimed(raw, record, each, claimed)
            for raw, record, each in zip(ids, records, sides, strict=True)
        ]
        return Taken(jobs, read_owed(owed), led, left)

    def _read(
        self, ids: list[bytes], records: list[bytes], sides: Sequence[Sides], until: int
    ) -> list[Job]:
        return [
            read(raw, record, each._replace(lease_until=until), self.ref)
            for raw, record, each in zip(ids, records, sides, strict=True)
        ]

    async def _sides_of(self, ids: list[bytes], records: list[bytes]) -> Sequence[Sides]:
        """Large specs and what former attempts left, for the few that have any."""
        sides = [NO_SIDES] * len(ids)
        for name, field, positions in wanted_sides(records):
            at_once = SIDES_AT_ONCE if name in LARGE_SIDES else len(positions)
            some = list(parts(positions, at_once))
            answers = await together(
                [self.send("HMGET", name, *(ids[n] for n in part)) for part in some]
            )
            for n, value in zip(positions, chain.from_iterable(answers), strict=True):
                sides[n] = sides[n]._replace(**{field: value})
        return sides

    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        held: set[str] = set()
        for part in parts(leases):
            words = chain.from_iterable(
                (pack_id(each.id), pack_number(each.fence)) for each in part
            )
            lost = set(await self.run("renew", (), [lease, *words]))
            held |= {each.id for n, each in enumerate(part) if n not in lost}
        return frozenset(held)

    async def finish(self, transitions: Sequence[Transition], *, again: bool = False) -> Answer:
        held: set[str] = set()
        owed: list[Owed] = []
        endings: list[Ending] = []
        # From the end: what is released later goes before what was released.
        for part in reversed(list(light_parts(transitions, _result_size))):
            ordered, words = finish_words(part)
            queues = list({each.queue: None for each in part})
            lost, owing, ended = await self.run("finish", queues, words, again=again)
            missing = set(lost)
            held |= {each.id for n, each in enumerate(ordered) if n not in missing}
            owed += read_owed(owing)
            endings += (Ending(self.number, raw) for raw in ended)
        return Answer(frozenset(held), owed, endings)

    async def report(self, reports: Sequence[tuple[Lease, Progress]]) -> None:
        words: list[bytes] = []
        for lease, progress in reports:
            words += (pack_id(lease.id), pack_number(lease.fence), encode(progress))
        await self.run("report", (), words)

    async def checkpoint(self, states: Sequence[tuple[Lease, bytes]]) -> frozenset[str]:
        held: set[str] = set()
        for part in light_parts(states, lambda state: len(state[1])):
            words = chain.from_iterable(
                (pack_id(lease.id), pack_number(lease.fence), left) for lease, left in part
            )
            lost = set(await self.run("checkpoint", (), list(words)))
            held |= {lease.id for n, (lease, _) in enumerate(part) if n not in lost}
        return frozenset(held)

    async def ready(self, queues: Sequence[str]) -> set[str]:
        """Make due jobs of these queues pending; which of them have any to give."""
        found = await self.run("ready", queues, [LARGEST_PROMOTION])
        return set(map(unpack_queue, found))

    # -- upkeep --------------------------------------------------------------------------

    async def rescue(self, limit: int, lease: int, worker: str, beyond: int = 0) -> list[Job]:
        words: list[Word] = [limit, lease, worker, beyond]
        now, ids, records = await self.run("rescue", (), words)
        return self._read(ids, records, await self._sides_of(ids, records), now + lease)

    async def abandon(self, worker: str, limit: int) -> int:
        """Let at most some `limit` leases of a worker run out; how many it was."""
        done = 0
        bound: bytes | None = b"-inf"
        while bound is not None and done < limit:
            number, bound = await self.run("abandon", (), [worker, LOOKED_AT, bound])
            done += number
        return done

    async def prune(self, limit: int) -> tuple[int, Sequence[Owed]]:
        number, owed = await self.run("prune", (), [limit])
        return number, read_owed(owed)

    # -- people --------------------------------------------------------------------------

    async def change(
        self, name: str, ids: Sequence[str], queues: Sequence[str], *words: Word
    ) -> Answer:
        """Run a script that changes jobs by id, on those that are here."""
        return await self._change(name, ids, queues, words)

    async def delete(self, ids: Sequence[str], queues: Sequence[str], *words: Word) -> Answer:
        """Delete jobs that are here, with what was kept of their attempts."""
        kept = [self._keys.of(attempts_of(id)) for id in ids]
        return await self._change("delete", ids, queues, words, kept)

    async def _change(
        self,
        name: str,
        ids: Sequence[str],
        queues: Sequence[str],
        words: Sequence[Word],
        more: Sequence[str] = (),
    ) -> Answer:
        args = [*words, *map(pack_id, ids)]
        done, owed, ended, *rest = await self.run(name, queues, args, more=more)
        endings = [Ending(self.number, raw) for raw in ended]
        damaged = frozenset(map(unpack_id, rest[0])) if rest else frozenset()
        return Answer(frozenset(map(unpack_id, done)), read_owed(owed), endings, damaged)

    async def replay(
        self, ids: Sequence[str], queues: Sequence[str], taken: bool, tails: Sequence[bytes] = ()
    ) -> frozenset[str]:
        """Replay jobs; or one that is blocked by others, whose waits `tails` are."""
        words: list[Word] = [int(taken), len(ids), *map(pack_id, ids), *tails]
        done, _, _ = await self.run("replay", queues, words)
        return frozenset(map(unpack_id, done))

    async def pause(self, queue: str, *, paused: bool) -> None:
        await self.run("pause", [queue], [int(paused)])


def _result_size(transition: Transition) -> int:
    return 0 if transition.result is None else len(transition.result)


def queues_of(jobs: Sequence[NewJob | Job]) -> list[str]:
    """The queues of jobs, each once."""
    first = jobs[0].queue
    return [first] if len(jobs) == 1 else list({job.queue: None for job in jobs})
