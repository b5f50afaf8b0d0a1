"""Schedules: one shard has them all; the job of a tick goes where its queue is.

A tick is noted as the last one only if the schedule is still as it was read, and in the same step
its job is held back in the outbox, from where whoever lets go of it first makes it a job. If the
job belongs to another shard, what is noted is the tick itself, and the job is held back there in a
second step, which that shard takes once for each tick.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Sequence
from struct import Struct
from typing import Final, NamedTuple

import msgspec

from ...core.model import NewJob, Receipt
from ...core.schedule import Schedule, Turn, following, turn
from .arrivals import NEW, let_in, pack
from .io import Word
from .names import Names
from .parents import Parents, dependent
from .record import HELD_BACK, pack_id
from .shard import Shard
from .spread import Spread
from .together import together
from .unblocking import Unblocking

log = logging.getLogger("windlass")

TICK: Final = "t"
"""The kind of note in the outbox for a tick whose job belongs to another shard."""

KEY: Final = "schedules"

_HEAD: Final = Struct(">qBH")
_SIZE: Final = Struct(">I")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Schedule).decode

replace = msgspec.structs.replace


class Due(NamedTuple):
    """A tick that is to be seen to."""

    name: str
    tick: int
    job: NewJob


_decode_due = msgspec.msgpack.Decoder(Due).decode


def read_schedule(raw: bytes) -> Schedule:
    last, paused, length = _HEAD.unpack_from(raw)
    at = _HEAD.size + length
    job = raw[_HEAD.size : at].decode()
    return replace(_decode(raw[at:]), last=last, paused=bool(paused), job=job)


def _readable(name: bytes, raw: bytes) -> Schedule | None:
    """A schedule, unless it is damaged: nobody could say what it is to do, and the others go on."""
    try:
        return read_schedule(raw)
    except (struct.error, msgspec.DecodeError, UnicodeDecodeError) as error:
        log.warning(
            "the schedule %s is damaged and left out: %s", name.decode("utf-8", "replace"), error
        )
        return None


class Schedules:
    """What people do with schedules."""

    def __init__(self, shard: Shard) -> None:
        self._shard = shard

    async def put(self, schedules: Sequence[Schedule]) -> None:
        words: list[bytes] = []
        for schedule in schedules:
            plain = replace(schedule, paused=False, last=0, job="")
            job = schedule.job.encode()
            own = _HEAD.pack(schedule.last, schedule.paused, len(job)) + job
            words += (schedule.name.encode(), own, _encode(plain))
        if words:
            await self._shard.run_on("put_schedules", [KEY], words)

    async def all(self) -> list[Schedule]:
        found = await self._shard.send("HGETALL", KEY)
        read = [_readable(*pair) for pair in zip(found[::2], found[1::2], strict=True)]
        return sorted((each for each in read if each is not None), key=lambda each: each.name)

    async def pause(self, names: Sequence[str], paused: bool) -> frozenset[str]:
        found = await self._shard.run_on("pause_schedules", [KEY], [int(paused), *names])
        return frozenset(name.decode() for name in found)

    async def drop(self, names: Sequence[str]) -> frozenset[str]:
        found = await self._shard.run_on("drop_schedules", [KEY], names)
        return frozenset(name.decode() for name in found)


class Ticks:
    """Sees to ticks, and to what was left of those of others."""

    def __init__(
        self,
        shards: Sequence[Shard],
        spread: Spread,
        names: Names,
        parents: Parents,
        unblocking: Unblocking,
    ) -> None:
        self._shards = shards
        self._spread = spread
        self._parents = parents
        self._unblocking = unblocking

    async def tick(self, schedule: Schedule, tick: int) -> Receipt | None:
        """See to a tick unless somebody has; again if the schedule is changed meanwhile."""
        while True:
            raw = await self._shards[0].send("HGET", KEY, schedule.name)
            kept = None if raw is None else _readable(schedule.name.encode(), raw)
            if kept is None or kept.paused or kept.last != schedule.last or tick <= kept.last:
                return None
            new, receipt = await self._turn(kept, tick)
            answer = await self._note(kept.name, raw, tick, new, receipt.id)
            if isinstance(answer, bytes):
                await self.go_on(answer)
            elif answer < 0:
                return None
            elif answer:
                return receipt if new is None else await self._see_to(Due(kept.name, tick, new))

    async def _turn(self, kept: Schedule, tick: int) -> tuple[NewJob | None, Receipt]:
        """The job of a tick, if it makes one, and what stands for it."""
        new = kept.new_job(tick)
        # Where overlap is allowed it does not matter, nor whether all shards can be asked.
        asked = self._shards if kept.job and kept.overlap != "allow" else ()
        found = await together([shard.get([kept.job]) for shard in asked])
        before = next((job for answer in found for job in answer.values()), None)
        match turn(kept.overlap, before):
            case Turn.LEFT_OUT:
                return None, Receipt(kept.job, duplicate=True)
            case Turn.FOLLOWS:
                new = following(new, kept.job)
        return new, Receipt(new.id)

    async def _note(
        self, name: str, read: bytes, tick: int, new: NewJob | None, job: str
    ) -> int | bytes:
        field, noted = b"", b""
        if new is not None and self._number(new) == 0:
            field, noted = _held(new)
        elif new is not None:
            field, noted = _field(name), _encode(Due(name, tick, new))
        words: list[Word] = [name, read, tick, job, field, noted, _field(name)]
        answer: int | bytes = await self._shards[0].run_on("tick", [KEY, "outbox"], words)
        return answer

    async def go_on(self, noted: bytes) -> None:
        """See to a tick that was noted and left."""
        await self._see_to(_decode_due(noted))

    async def _see_to(self, due: Due) -> Receipt:
        shard = self._shards[self._number(due.job)]
        if shard.number:
            words: list[Word] = [due.name, due.tick, *_held(due.job)]
            await shard.run_on("enter", ["ticks", "outbox"], words)
        receipt = await self._let_in(shard, due.job)
        if shard.number:
            await self._forget(due)
        return receipt

    async def _let_in(self, shard: Shard, job: NewJob) -> Receipt:
        told = {}
        if job.spec.parents:
            (told[0],) = await self._parents.tell([dependent(job, shard.number)])
        accepted = await let_in(shard, [job], [pack(job, HELD_BACK)], told)
        for each in told.values():
            await self._unblocking.look_at(each.where)
        receipt = accepted.receipts[0]
        # Without an id another has let it in, which is as good.
        return receipt if receipt.id else Receipt(job.id)

    async def _forget(self, due: Due) -> None:
        words = [_field(due.name), _encode(due)]
        await self._shards[0].run_on("forget", ["outbox"], words)

    def _number(self, job: NewJob) -> int:
        return self._spread.of(job)


def _field(name: str) -> bytes:
    """Where a tick of a schedule is noted."""
    return TICK.encode() + name.encode()


def _held(job: NewJob) -> tuple[bytes, bytes]:
    """The field of a job that is held back, and what is noted after the time (see `hold.lua`)."""
    record, large = pack(job, HELD_BACK)
    return NEW.encode() + pack_id(job.id), _SIZE.pack(len(record)) + record + (large or b"")
