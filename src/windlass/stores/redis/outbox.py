"""Steps across two shards that were begun and left behind: whoever finds their notes ends them.

See `names` for what is noted, and when.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from ...errors import StoreError
from .arrivals import NEW
from .changes import COMING
from .held import Held, read_held
from .lookout import Lookout
from .names import Claim, Names
from .packing import Packed, insert_words, read_waits, restore_words
from .parents import Dependent, Parents, Told, told_words
from .record import HELD_BACK, REMOTE_ID, REMOTE_KEY, UNREADABLE, pack_id, unpack_id
from .replies import read_owed
from .rivals import REKEY, rekey
from .schedules import TICK, Ticks
from .shard import Shard

log = logging.getLogger("windlass")

DAMAGED: Final = (*UNREADABLE, msgspec.DecodeError)
STALE: Final = 30_000
"""Milliseconds after which a note counts as left behind."""


class Note(NamedTuple):
    """One entry of an outbox. What its kinds mean: a new job that is held, b one of another store,
    r intent to replay, p intent to replay a job that others block, t a tick (see `schedules`),
    k a key that is held on other terms (see `rivals`), u and i owed."""

    kind: str
    raw: bytes
    value: bytes

    @property
    def id(self) -> str:
        return unpack_id(self.raw)

    def owed_name(self) -> str:
        return unpack_id(self.value) if self.kind == "i" else self.value.decode()

    def since(self) -> int:
        return int.from_bytes(self.value[:8], "big")

    def key(self) -> str:
        return self.value[8:].decode()

    def held(self) -> Packed:
        size = int.from_bytes(self.value[8:12], "big")
        return Packed(self.value[12 : 12 + size], self.value[12 + size :] or None)

    def read_held(self) -> Held:
        record, beside = self.held()
        return read_held(record, beside, new=self.kind == NEW)

    def dependent(self, shard: int) -> Dependent:
        """The job that is held, with those that it is to wait for."""
        held, new = self.read_held(), self.kind == NEW
        parents = held.spec.parents if new else read_waits(self.held())
        runs_anyway = held.spec.runs_anyway
        return Dependent(self.id, held.queue, shard, parents, runs_anyway, moved=not new)


async def redrive(
    shards: Sequence[Shard], names: Names, parents: Parents, ticks: Ticks, lookout: Lookout
) -> None:
    """Carry out the second steps of whoever did not come to it, where they can be."""
    found = await lookout.ask(range(len(shards)), lambda number: _left_behind(shards[number]))
    for number, notes in found.items():
        try:
            for note in notes:
                await _drive(shards[number], names, parents, ticks, lookout, note)
        except StoreError as error:
            log.warning("steps that were left behind are still to be ended: %s", error)


async def complete(shard: Shard, names: Names, parents: Parents, kind: str, id: str) -> None:
    """Carry out what is left to do for one job that is held, if it still is."""
    value = await shard.send("HGET", "outbox", kind.encode() + pack_id(id))
    if value is None:
        return
    note = Note(kind, pack_id(id), value)
    try:
        await _let_in(shard, names, parents, note)
    except DAMAGED as error:
        await _drop(shard, note, error)


async def _drive(
    shard: Shard, names: Names, parents: Parents, ticks: Ticks, lookout: Lookout, note: Note
) -> None:
    try:
        if not any(map(lookout.is_silent, _homes(note, names, shard.number))):
            await _settle(shard, names, parents, ticks, note)
    except DAMAGED as error:
        await _drop(shard, note, error)


async def _drop(shard: Shard, note: Note, error: Exception) -> None:
    """Nobody can tell what it asks for, and every rescue would stop at it."""
    log.warning("a note of %s is damaged and dropped: %r", note.raw, error)
    await shard.send("HDEL", "outbox", note.kind.encode("latin-1") + note.raw)


async def _left_behind(shard: Shard) -> list[Note]:
    _, fields = await shard.send("HSCAN", "outbox", 0, "COUNT", 100)
    pairs = zip(fields[::2], fields[1::2], strict=True)
    notes = [Note(field[:1].decode("latin-1"), field[1:], value) for field, value in pairs]
    now = await shard.time() if notes else 0
    return [note for note in notes if note.kind in "ui" or now - note.since() >= STALE]


def _claims(note: Note, shard: int) -> list[Claim]:
    """The names that a note is about, each with whom it is for."""
    owner = str(shard)
    if note.kind in "ui":
        return [Claim(note.kind, note.owed_name(), owner if note.kind == "i" else note.id, 0)]
    if note.kind in (TICK, COMING):
        return []
    if note.kind == REKEY:
        return [Claim("u", note.value[24:].decode(), note.id, 0)]
    if note.kind == "r":
        return [Claim("u", note.key(), note.id, 0)]
    held = note.read_held()
    claims: list[Claim] = []
    if held.more & REMOTE_ID:
        claims.append(Claim("i", note.id, owner, 0))
    if held.more & REMOTE_KEY and held.unique is not None and held.live:
        claims.append(Claim("u", held.unique, note.id, 0, held.window))
    return claims


def _homes(note: Note, names: Names, shard: int) -> list[int]:
    return [names.home(claim.name) for claim in _claims(note, shard)]


async def _settle(shard: Shard, names: Names, parents: Parents, ticks: Ticks, note: Note) -> None:
    if note.kind in "ui":
        await _pay(shard, names, note)
    elif note.kind == "r":
        await _replay(shard, names, note.id, note.key())
    elif note.kind == COMING:
        # It did not come: edges that lead to it do nothing from now on.
        await shard.send("HDEL", "outbox", COMING.encode() + note.raw)
    elif note.kind == REKEY:
        await rekey(shard, names, note.id, note.value)
    elif note.kind == TICK:
        await ticks.go_on(note.value[8:])
    else:
        await _let_in(shard, names, parents, note)


async def _pay(shard: Shard, names: Names, note: Note) -> None:
    """Give up a name, unless a later job of the same id has it by now."""
    flag = REMOTE_ID if note.kind == "i" else REMOTE_KEY
    await names.withdraw(shard, note.id, note.owed_name(), flag)
    await shard.send("HDEL", "outbox", note.kind.encode() + note.raw)


async def _replay(shard: Shard, names: Names, id: str, key: str) -> None:
    located = await shard.located([id])
    if located and await names.take_keys(shard, {id: key}):
        done = await shard.replay([id], list(located.values()), taken=True)
        if id not in done:
            await names.give_back(shard, {id: key})
    await names.forget_intents(shard, [id])


async def _let_in(shard: Shard, names: Names, parents: Parents, note: Note) -> None:
    claims = _claims(note, shard.number)
    for n, claim in enumerate(claims):
        if await names.reserve([claim]):
            await names.free(claims[:n])
            await shard.send("HDEL", "outbox", note.kind.encode() + note.raw)
            return
    held, packed, told = note.read_held(), [note.held()], Told()
    await parents.expect(note.id, shard.number, await parents.where_awaited(note.id))
    if held.more & HELD_BACK:
        (told,) = await parents.tell([note.dependent(shard.number)])
    if note.kind == NEW:
        words = [*insert_words([note.raw], packed, ask_names=True), *told_words({0: told})]
        refused, owed, _ = await shard.run("insert", [held.queue], words)
        if owed:
            await names.pay_owed(shard, read_owed(owed))
        if held.unique is not None and held.spec.runs_anyway and len(held.spec.parents) == 1:
            # It may be one that took over the key of the job that it follows.
            await names.yield_key(held.spec.parents[0], held.unique)
    else:
        words = [*restore_words([note.raw], packed, held.fence, ask_names=True), *told.tails]
        refused, _ = await shard.run("restore", [held.queue], words)
    if refused and refused[1]:
        await names.withdraw(shard, note.id, held.unique, held.more)
