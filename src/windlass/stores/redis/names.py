"""Ids and unique keys in a Cluster, where one shard must know what another has.

A name has a home, the shard that says who has it. A step across two shards goes through the
outbox of the first one:

- insert and restore: the job is *held* in the outbox of its shard, its names are taken at their
  homes, then it is let go and becomes a job, or is dropped because a name was taken;
  A job that depends on others is held as well, until edges lead to it (see `parents`);
- replay: the *intent* is noted, the key is taken, then the job is replayed;
- an end: the script that ends a job notes what is *owed* in the same step, then the names are
  given up at their homes, then the note goes.

Each second step can be repeated without harm, so that whoever finds an old note carries it out
(`outbox`). Jobs whose id was made for them and that have no unique key need none of this.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...core.model import Receipt
from ...core.states import LIVE
from ...errors import StoreError, StoreUnavailable
from .arrivals import Arrival, is_fresh, key_of, let_in, note_of, pack
from .edges import Ending
from .io import Word
from .lookout import Lookout
from .parents import Parents, Told, dependent, depends
from .record import HELD_BACK, REMOTE_ID, REMOTE_KEY, pack_id, unpack_id
from .replies import Owed
from .shard import Accepted, Answer, Shard
from .spread import Spread
from .together import together

log = logging.getLogger("windlass")


class Claim(NamedTuple):
    """A name that a job is to have: `owner` is its shard if it is an id, its id if a key."""

    kind: str
    name: str
    owner: str
    job: int
    """the position of the job"""
    window: int = 0
    """of a key: for how many milliseconds, 0 if as long as the job is live"""
    before: str = ""
    """of a key: the job that is to give it up for this one"""

    def words(self) -> tuple[bytes, bytes]:
        if self.kind == "i":
            return pack_id(self.name), self.owner.encode()
        return self.name.encode(), pack_id(self.owner)


def owed_name(kind: str, value: bytes) -> str:
    """The name in a note of what is owed."""
    return unpack_id(value) if kind == "i" else value.decode()


class Acceptance(NamedTuple):
    """What became of jobs that came in."""

    receipts: list[Receipt]
    endings: Sequence[Ending]
    """what is owed to dependents by jobs that had ended"""
    where: frozenset[int]
    """the shards of jobs that are waited for now"""
    held: Sequence[int] = ()
    """positions of those that another call has held back and not let go yet"""


class Names:
    """Takes and gives up names at their homes."""

    def __init__(
        self, shards: Sequence[Shard], spread: Spread, parents: Parents, lookout: Lookout
    ) -> None:
        self._shards = shards
        self._spread = spread
        self._parents = parents
        self._lookout = lookout

    def remote(self, job: Arrival, shard: int) -> int:
        """The flags of a job: which of its names are at home elsewhere, and whether it is held
        back for its parents."""
        more = HELD_BACK if depends(job) else 0
        if not is_fresh(job) and self._spread.home(job.id) != shard:
            more |= REMOTE_ID
        if job.unique is not None and self._spread.home(job.unique) != shard:
            more |= REMOTE_KEY
        return more

    async def accept(self, jobs: Sequence[Arrival], before: str = "") -> Acceptance:
        """Accept jobs of one kind and any shards, none of which has a name in common with
        another, or depends on another. If it is one that follows the job `before`, it takes its
        unique key over."""
        shards = [self._spread.of(job) for job in jobs]
        flags = [self.remote(job, shard) for job, shard in zip(jobs, shards, strict=True)]
        there, awaited = await self._known(jobs)
        receipts = [Receipt(job.id, duplicate=True) if job.id in there else None for job in jobs]
        todo = [n for n, receipt in enumerate(receipts) if receipt is None]
        held = [n for n in todo if flags[n]]
        taken: list[int] = []
        if held:
            taken = await self._take_names(jobs, shards, flags, held, receipts, before)
        todo = [n for n in todo if not receipts[n]]
        for n in todo:
            await self._parents.expect(jobs[n].id, shards[n], awaited.get(jobs[n].id, ()))
        waiting = [n for n in todo if flags[n] & HELD_BACK]
        answers = await self._parents.tell([dependent(jobs[n], shards[n]) for n in waiting])
        told = dict(zip(waiting, answers, strict=True))
        accepted = await together(
            [
                self._let_go(jobs, flags, group, receipts, self._shards[shard], told)
                for shard, group in _grouped((n, shards[n]) for n in todo)
            ]
        )
        return Acceptance(
            [receipt or Receipt(job.id) for job, receipt in zip(jobs, receipts, strict=True)],
            [
                *(ending for each in answers for ending in each.endings),
                *(ending for each in accepted for ending in each.endings),
            ],
            frozenset().union(*(each.where for each in answers)),
            taken,
        )

    async def _known(self, jobs: Sequence[Arrival]) -> tuple[set[str], dict[str, list[int]]]:
        """Ids that some shard has, and those that are waited for, with the shards where they are.

        Before the steps: an id that was made for a job is not entered at its home, and whoever
        comes with it later has seen that job."""
        asked = [job.id for job in jobs if not is_fresh(job)]
        there: set[str] = set()
        awaited: dict[str, list[int]] = {}
        if asked:
            answers = await together([shard.known(asked) for shard in self._shards])
            for number, known in enumerate(answers):
                there |= known.queues.keys()
                for id in known.awaited:
                    awaited.setdefault(id, []).append(number)
        return there, awaited

    async def _take_names(
        self,
        jobs: Sequence[Arrival],
        shards: Sequence[int],
        flags: Sequence[int],
        held: list[int],
        receipts: list[Receipt | None],
        before: str,
    ) -> list[int]:
        """Take all names of those that are to be held; the positions of those that others hold."""
        taken: list[int] = []
        for shard, group in _grouped((n, shards[n]) for n in held):
            words: list[str | bytes] = [note_of(jobs[group[0]])]
            for n in group:
                record, large = pack(jobs[n], flags[n])
                words += (pack_id(jobs[n].id), record, large or b"")
            there, others = await self._shards[shard].run("hold", (), words)
            taken += (group[position] for position in others)
            for position in (*there, *others):
                n = group[position]
                receipts[n] = Receipt(jobs[n].id, duplicate=True)
        for kind, flag in (("i", REMOTE_ID), ("u", REMOTE_KEY)):
            claims = [
                self._claim(kind, jobs[n], shards[n], n)._replace(before=before)
                for n in held
                if (flags[n] & flag or (before and kind == "u"))
                and not receipts[n]
                and (kind == "i" or key_of(jobs[n]) is not None)
            ]
            for claim, holder in await self._reserve_owed(claims):
                job = jobs[claim.job]
                receipts[claim.job] = Receipt(holder, duplicate=True)
                if kind == "u" and flags[claim.job] & REMOTE_ID:
                    await self.free([self._claim("i", job, shards[claim.job], claim.job)])
                field = note_of(job).encode() + pack_id(job.id)
                await self._shards[shards[claim.job]].send("HDEL", "outbox", field)
        if before and not any(receipts):
            await self.yield_key(before, jobs[0].unique or "")
        return taken

    def _claim(self, kind: str, job: Arrival, shard: int, position: int) -> Claim:
        if kind == "i":
            return Claim("i", job.id, str(shard), position)
        return Claim("u", job.unique or "", job.id, position, max(job.spec.unique_for, 0))

    async def _let_go(
        self,
        jobs: Sequence[Arrival],
        flags: Sequence[int],
        group: Sequence[int],
        receipts: list[Receipt | None],
        shard: Shard,
        told: Mapping[int, Told],
    ) -> Accepted:
        packed = [pack(jobs[n], flags[n]) for n in group]
        own = {at: told[n] for at, n in enumerate(group) if n in told}
        accepted = await let_in(shard, [jobs[n] for n in group], packed, own)
        if accepted.owed:
            await self.pay_owed(shard, accepted.owed)
        for n, receipt in zip(group, accepted.receipts, strict=True):
            job = jobs[n]
            if not receipt.id:
                # Its names were taken for it, so it is this very job that another has let go.
                if not await shard.located([job.id]):
                    raise StoreUnavailable(
                        f"It is not certain whether job {job.id} was stored; try again."
                    )
                receipts[n] = Receipt(job.id)
                continue
            if flags[n] and receipt.duplicate:
                await self.withdraw(shard, job.id, job.unique, flags[n])
            receipts[n] = receipt
        return accepted

    async def yield_key(self, id: str, key: str) -> None:
        """Take a key off the record of a job that another follows."""
        found = await together([shard.located([id]) for shard in self._shards])
        for shard, here in zip(self._shards, found, strict=True):
            if here:
                await shard.run("yield", (), [pack_id(id), key.encode()])

    async def rekey(self, key: str, id: str, number: int, until: int) -> None:
        """Change on what terms a job holds its key."""
        words: list[Word] = [key.encode(), pack_id(id), number, until]
        await self._shards[self._spread.home(key)].run("rekey", (), words)

    async def withdraw(self, shard: Shard, id: str, unique: str | None, more: int) -> None:
        """Give up the names of a job that was refused, but not those that another of its id has."""
        answers = await together([each.get([id]) for each in self._shards])
        rivals = {n: found[id] for n, found in enumerate(answers) if id in found}
        claims: list[Claim] = []
        if more & REMOTE_ID and shard.number not in rivals:
            claims.append(Claim("i", id, str(shard.number), 0))
        keeps = any(job.unique == unique and job.state in LIVE for job in rivals.values())
        if more & REMOTE_KEY and unique is not None and not keeps:
            claims.append(Claim("u", unique, id, 0))
        await self.free(claims)

    async def take_keys(self, shard: Shard, keys: dict[str, str]) -> list[str]:
        """Take the unique keys of jobs that are to be replayed; the ids that have theirs now."""
        words = [word for id, key in keys.items() for word in (pack_id(id), key.encode())]
        await shard.run("intend", (), ["r", *words])
        claims = [Claim("u", key, id, 0) for id, key in keys.items()]
        refused = {claim.owner for claim, _ in await self.reserve(claims)}
        await self.forget_intents(shard, refused)
        return [id for id in keys if id not in refused]

    async def give_back(self, shard: Shard, keys: dict[str, str]) -> None:
        """Give up keys that were taken for a replay that came to nothing."""
        await self.free([Claim("u", key, id, 0) for id, key in keys.items()])
        await self.forget_intents(shard, keys)

    async def forget_intents(self, shard: Shard, ids: Iterable[str]) -> None:
        fields = [kind + pack_id(id) for id in ids for kind in (b"r", b"p")]
        if fields:
            await shard.send("HDEL", "outbox", *fields)

    def home(self, name: str) -> int:
        """The shard that says who has a name."""
        return self._spread.home(name)

    async def pay(self, shard: Shard, answer: Answer) -> frozenset[str]:
        """Give up what a step owes to other shards; the answer's ids."""
        if answer.owed:
            await self.pay_owed(shard, answer.owed)
        return answer.ids

    async def pay_owed(self, shard: Shard, owed: Sequence[Owed]) -> None:
        owner = str(shard.number)
        await self.free(
            [Claim(kind, name, owner if kind == "i" else id, 0) for kind, id, name in owed]
        )
        await shard.send("HDEL", "outbox", *(kind.encode() + pack_id(id) for kind, id, _ in owed))

    async def reserve(self, claims: Sequence[Claim]) -> list[tuple[Claim, str]]:
        """Take names; those that another has, with the holder's id."""
        refused: list[tuple[Claim, str]] = []
        for home, group in _grouped((claim, self._spread.home(claim.name)) for claim in claims):
            words: list[Word] = [group[0].kind]
            for claim in group:
                before = pack_id(claim.before) if claim.before else b""
                words += (*claim.words(), claim.window, before)
            answer = await self._shards[home].run("reserve", (), words)
            for position, holder in zip(answer[::2], answer[1::2], strict=True):
                refused.append((group[position], unpack_id(holder)))
        return refused

    async def _reserve_owed(self, claims: Sequence[Claim]) -> list[tuple[Claim, str]]:
        """Take names, those included whose holders have ended and did not come to give them up."""
        refused = await self.reserve(claims)
        if not refused:
            return refused
        owed = await self._owed_by(refused)
        try:
            for shard, note in owed:
                await self.settle_owed(shard, note)
        except StoreError as error:
            log.warning("a name that is owed cannot be given up yet: %s", error)
            return refused
        names = {(kind, name) for _, (kind, _, name) in owed}
        again = [claim for claim, _ in refused if (claim.kind, claim.name) in names]
        held = [each for each in refused if (each[0].kind, each[0].name) not in names]
        return [*held, *(await self.reserve(again) if again else ())]

    async def _owed_by(self, refused: Sequence[tuple[Claim, str]]) -> list[tuple[Shard, Owed]]:
        """Which of the names that were refused are owed by their holders, by the notes in those
        shards that answer."""
        wanted = [(claim.kind, holder, claim.name) for claim, holder in refused]
        fields = [kind.encode() + pack_id(holder) for kind, holder, _ in wanted]
        answers = await self._lookout.ask(
            range(len(self._shards)),
            lambda number: self._shards[number].send("HMGET", "outbox", *fields),
        )
        return [
            (self._shards[number], note)
            for number, values in answers.items()
            for note, value in zip(wanted, values, strict=True)
            if value is not None and owed_name(note[0], value) == note[2]
        ]

    async def settle_owed(self, shard: Shard, note: Owed) -> None:
        """Give up a name, unless a later job of the same id has it by now."""
        kind, id, name = note
        await self.withdraw(shard, id, name, REMOTE_ID if kind == "i" else REMOTE_KEY)
        await shard.send("HDEL", "outbox", kind.encode() + pack_id(id))

    async def free(self, claims: Sequence[Claim]) -> None:
        keyed = [(claim, (claim.kind, self._spread.home(claim.name))) for claim in claims]
        for (kind, home), group in _grouped(keyed):
            words = [word for claim in group for word in claim.words()]
            await self._shards[home].run("free", (), [kind, *words])


def _grouped(pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, list[Any]]]:
    """Values by their keys, in the order in which they came."""
    groups: dict[Any, list[Any]] = defaultdict(list)
    for value, key in pairs:
        groups[key].append(value)
    return list(groups.items())
