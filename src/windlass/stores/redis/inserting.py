"""Accepting jobs: into their shards, in steps that a server can take in a few milliseconds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, TypeVar

import msgspec

from ...core.dependents import unknown_parent
from ...core.model import Job, NewJob, Receipt, weight
from ...core.schedule import following
from ...core.unique import Clash, clash
from ...errors import StoreError, StoreUnavailable
from .arrivals import Arrival, key_of, note_of, restore
from .io import Word
from .names import Names
from .outbox import complete
from .packing import pack_new, pack_restored
from .parents import Parents, first_reasons, parent_words, reason_for
from .portions import LARGEST_WRITE, light_parts
from .record import unpack_id
from .rivals import CLASH, Replaced, Rivalry, Rivals, may_clash
from .shard import Shard
from .spread import Spread
from .together import together
from .unblocking import Unblocking

LARGEST_INSERT: Final = 500
"""Jobs in one step: all of them are stored, or none."""

MOST_PARENTS: Final = 1_000
"""Of all jobs in one step; one that has more alone comes in by several."""

TRIES: Final = 10
"""How often parents are looked at again that fail one after the other."""

A = TypeVar("A", NewJob, Job)

replace = msgspec.structs.replace


class Inserter:
    """Inserts jobs into their shards."""

    def __init__(
        self,
        shards: Sequence[Shard],
        spread: Spread,
        names: Names,
        parents: Parents,
        unblocking: Unblocking,
    ) -> None:
        self._rivalry = Rivalry(shards, names)
        self._shards = shards
        self._spread = spread
        self._names = names
        self._parents = parents
        self._unblocking = unblocking

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        if len(jobs) <= 1 or (len(jobs) <= LARGEST_INSERT and heft(jobs) < LARGEST_WRITE):
            return await self._insert(jobs) if jobs else ()
        if not any(job.spec.parents for job in jobs):
            return await _in_steps(jobs, self._insert)
        # Of several steps none is taken unless all parents are there.
        await self._parents.check(jobs)
        return await _in_steps(jobs, self._insert_checked)

    async def _insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        if len(self._shards) == 1:
            receipts = await self._shards[0].insert_plain(jobs)
            return await self._insert_more(jobs) if receipts is None else receipts
        if any(job.spec.parents for job in jobs):
            await self._parents.check(jobs)
            return await self._accept(jobs)
        if all(job.fresh and job.unique is None for job in jobs):
            return await self._insert_fresh(jobs)
        return await self._accept(jobs)

    async def _insert_checked(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        if len(self._shards) > 1:
            return await self._accept(jobs)
        receipts: list[Receipt] = []
        for part in _by_parents(jobs):
            if len(part[0].spec.parents) > MOST_PARENTS:
                receipts += await self._accept(part)
            else:
                receipts += await self._insert_related(part, strict=False)
        return receipts

    async def _insert_more(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        """Jobs that are not plain, into the one shard that there is."""
        number = sum(len(job.spec.parents) for job in jobs)
        if number > MOST_PARENTS:
            await self._parents.check(jobs)
            return await self._insert_checked(jobs)
        if number or any(map(may_clash, jobs)):
            return await self._insert_related(jobs, strict=True)
        packed = [pack_new(job) for job in jobs]
        return (await self._shards[0].insert_packed(jobs, packed))[0].receipts

    async def _insert_related(self, jobs: Sequence[NewJob], *, strict: bool) -> list[Receipt]:
        """Jobs that depend on others, or may replace or follow others, all in one step.

        Why a job is cancelled at once, and what it is if it follows another, is told to the
        script, which says first what it needs.
        """
        packed = [pack_new(job) for job in jobs]
        reasons, rivals = first_reasons(jobs), Rivals()
        for _ in range(TRIES):
            words: Sequence[Word] = ()
            if any(job.spec.parents for job in jobs):
                words = parent_words(jobs, reasons, strict=strict)
            accepted, unsaid = await self._shards[0].insert_packed(
                jobs, packed, parents=words, followers=rivals.followers, queues=rivals.queues
            )
            if not unsaid:
                return accepted.receipts
            if unsaid[0] == CLASH:
                rivals.note(jobs, unsaid[1:])
            elif unsaid[0] != b"why":
                raise unknown_parent(jobs[unsaid[0]].id, unpack_id(unsaid[1]))
            else:
                for raw, state in zip(unsaid[1::2], unsaid[2::2], strict=True):
                    parent = unpack_id(raw)
                    reasons[parent, state] = reason_for(parent, state)
        raise StoreUnavailable("The jobs that these depend on change all the time; try again.")

    async def _insert_fresh(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        """Jobs whose names are nobody else's: each shard's in one step."""
        groups: dict[int, list[NewJob]] = {}
        for job in jobs:
            groups.setdefault(self._spread.of(job), []).append(job)
        answers = await together(
            [self._insert_into(self._shards[number], group) for number, group in groups.items()]
        )
        receipts = {receipt.id: receipt for answer in answers for receipt in answer}
        return [receipts[job.id] for job in jobs]

    async def _insert_into(self, shard: Shard, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        receipts = await shard.insert_plain(jobs)
        if receipts is None:
            packed = [pack_new(job) for job in jobs]
            receipts = (await shard.insert_packed(jobs, packed))[0].receipts
        return receipts

    async def _accept(self, jobs: Sequence[Arrival]) -> Sequence[Receipt]:
        receipts: list[Receipt] = []
        born: set[str] = set()
        for part in apart(jobs):
            # Nothing may have been kept of one that was cancelled at once; it came first.
            answers = {job.id: Receipt(job.id, duplicate=True) for job in part}
            if first := [job for job in part if job.id not in born]:
                got = await self._accept_apart(first)
                answers.update(zip([job.id for job in first], got, strict=True))
            receipts += answers.values()
            born.update(id for id, receipt in answers.items() if not receipt.duplicate)
        return receipts

    async def _accept_apart(self, jobs: Sequence[Arrival]) -> Sequence[Receipt]:
        if isinstance(jobs[0], NewJob) and may_clash(jobs[0]):
            return [await self._accept_clashing(jobs[0])]
        return await self._accept_part(jobs)

    async def _accept_part(
        self, jobs: Sequence[Arrival], before: str = "", tries: int = TRIES
    ) -> Sequence[Receipt]:
        acceptance = await self._names.accept(jobs, before)
        await self._unblocking.see_to(acceptance.endings)
        await self._unblocking.look_at(acceptance.where)
        receipts = list(acceptance.receipts)
        if held := [jobs[n] for n in acceptance.held]:
            if not tries:
                raise StoreUnavailable("Others enqueue the same jobs all the time; try again.")
            # Whoever held them may be dead: they are not there before they are let go.
            for job in held:
                shard = self._shards[self._spread.of(job)]
                await complete(shard, self._names, self._parents, note_of(job), job.id)
            answers = await self._accept_part(held, before, tries - 1)
            for n, receipt in zip(acceptance.held, answers, strict=True):
                receipts[n] = receipt
        return receipts

    async def _accept_clashing(self, job: NewJob) -> Receipt:
        """A job that may replace or follow the one that holds its key; from the start again, if
        that has moved on meanwhile."""
        plain = replace(job, conflict="reject")
        replaced = Replaced.MOVED_ON
        for _ in range(TRIES):
            (receipt,) = await self._accept_part([plain])
            if not receipt.duplicate or receipt.id == job.id:
                return receipt
            holder = await self._rivalry.look_at(receipt.id)
            match clash(job.conflict, holder and holder.job):
                case Clash.REPLACES if holder is not None:
                    replaced = await self._rivalry.replace(holder, job)
                    if replaced is Replaced.YES:
                        return receipt
                case Clash.FOLLOWS:
                    follower = following(plain, receipt.id)
                    (followed,) = await self._accept_part([follower], receipt.id)
                    if not followed.duplicate:
                        return followed
                case _:
                    return receipt
        if replaced is Replaced.IS_NO_HOLDER:
            return receipt
        raise StoreUnavailable("The job that holds the key changes all the time; try again.")

    # -- move ----------------------------------------------------------------------------

    async def restore(self, jobs: Sequence[Job]) -> Sequence[Receipt]:
        return await _in_steps(jobs, self._restore)

    async def _restore(self, jobs: Sequence[Job]) -> Sequence[Receipt]:
        ids = [job.id for job in jobs]
        answers = await together([shard.known(ids) for shard in self._shards])
        awaited = frozenset().union(*(known.awaited for known in answers))
        receipts: list[Receipt] = []
        for part in _one_by_one(jobs, lambda job: bool(job.waits_for) or job.id in awaited):
            receipts += await self._restore_part(part)
        return receipts

    async def _restore_part(self, jobs: Sequence[Job]) -> Sequence[Receipt]:
        if len(self._shards) > 1 or jobs[0].waits_for:
            return await self._accept(jobs)
        packed = [pack_restored(job) for job in jobs]
        accepted = await restore(self._shards[0], jobs, packed)
        await self._unblocking.see_to(accepted.endings)
        return accepted.receipts


async def _in_steps(
    jobs: Sequence[A], accept: Callable[[Sequence[A]], Awaitable[Sequence[Receipt]]]
) -> Sequence[Receipt]:
    receipts: list[Receipt] = []
    for part in light_parts(jobs, _weight, LARGEST_WRITE, LARGEST_INSERT):
        try:
            receipts += await accept(part)
        except StoreError as error:
            if not receipts:
                raise
            raise type(error)(
                f"{error} The first {len(receipts)} of {len(jobs)} jobs were stored; "
                "the same call again stores the others."
            ) from error
    return receipts


def heft(jobs: Sequence[NewJob]) -> int:
    """The bytes of all payloads."""
    return sum([len(job.spec.payload) for job in jobs])


def _weight(job: Arrival) -> int:
    return len(job.spec.payload) if isinstance(job, NewJob) else weight(job)


def _by_parents(jobs: Sequence[NewJob]) -> Iterator[Sequence[NewJob]]:
    """Jobs in portions that have no more parents than one step may; or one that has."""
    part: list[NewJob] = []
    number = 0
    for job in jobs:
        if part and number + len(job.spec.parents) > MOST_PARENTS:
            yield part
            part, number = [], 0
        part.append(job)
        number += len(job.spec.parents)
    if part:
        yield part


def _one_by_one(jobs: Sequence[Job], alone: Callable[[Job], bool]) -> Iterator[Sequence[Job]]:
    """Jobs in portions, in their order: each of some by itself, so that what follows from it comes
    before the next."""
    part: list[Job] = []
    for job in jobs:
        if alone(job):
            if part:
                yield part
            yield [job]
            part = []
        else:
            part.append(job)
    if part:
        yield part


def apart(jobs: Sequence[Arrival]) -> Iterator[Sequence[Arrival]]:
    """Jobs in portions in which no id and no unique key comes twice, and none needs another; one
    that may replace another by itself."""
    part: list[Arrival] = []
    names: set[tuple[str, str]] = set()
    for job in jobs:
        key = key_of(job)
        own = {("i", job.id)} if key is None else {("i", job.id), ("u", key)}
        alone = may_clash(job) or (part and may_clash(part[0]))
        if part and (alone or names & (own | {("i", parent) for parent in job.spec.parents})):
            yield part
            part, names = [], set()
        part.append(job)
        names |= own
    if part:
        yield part
