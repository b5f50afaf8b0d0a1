"""Steps across two shards that were begun and left behind: whoever finds their notes ends them.

See `names` for what is noted, and when.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from time import monotonic
from typing import Final, NamedTuple

import msgspec

from ...errors import StoreError, StoreUnavailable
from .arrivals import NEW, RESTORED
from .changes import COMING
from .held import Held, read_held
from .lookout import Lookout
from .names import Claim, Names, owed_name
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

OWED: Final = "ui"
"""The kinds of notes of names that are to be given up; these are due at once."""

PAGE: Final = 100
MOST_PAGES: Final = 20
TIME: Final = 0.5
"""Seconds after which one call begins no further page: who rescues has more to do."""

BEGINNING: Final = b"0"
SOME: Final = -1
"""Among the shards that are away: one of them all, nobody knows which."""

LEFT: Final = "a step that was left behind is still to be ended"


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
        return owed_name(self.kind, self.value)

    def is_stale(self, now: int) -> bool:
        return now - int.from_bytes(self.value[:8], "big") >= STALE

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


class Page(NamedTuple):
    """Some notes of an outbox that are due, and where the next page begins."""

    notes: Sequence[Note]
    next: bytes


class Outbox:
    """Carries out the second steps of whoever did not come to it, where they can be.

    It goes round: each call begins where the last one ended, so that nothing is hidden behind notes
    that cannot be driven yet.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        names: Names,
        parents: Parents,
        ticks: Ticks,
        lookout: Lookout,
    ) -> None:
        self._shards = shards
        self._names = names
        self._parents = parents
        self._ticks = ticks
        self._lookout = lookout
        self._from: dict[int, bytes] = {}
        """of each shard, where in its outbox the next page begins"""

    async def redrive(self) -> None:
        """A page of each shard, and more as long as there is time."""
        until = monotonic() + TIME
        left: Collection[int] = range(len(self._shards))
        away: set[int] = set()
        for _ in range(MOST_PAGES):
            pages = await self._lookout.ask(left, self._page)
            for number, page in pages.items():
                await self._drive_all(self._shards[number], page.notes, away)
                self._from[number] = page.next
            left = [number for number, page in pages.items() if page.next != BEGINNING]
            if not left or monotonic() > until:
                return

    async def _page(self, number: int) -> Page:
        shard = self._shards[number]
        cursor = self._from.get(number, BEGINNING)
        cursor, fields = await shard.send("HSCAN", "outbox", cursor, "COUNT", PAGE)
        pairs = zip(fields[::2], fields[1::2], strict=True)
        notes = [Note(field[:1].decode("latin-1"), field[1:], value) for field, value in pairs]
        now = await shard.time() if notes else 0
        return Page([each for each in notes if each.kind in OWED or each.is_stale(now)], cursor)

    async def _drive_all(self, shard: Shard, notes: Sequence[Note], away: set[int]) -> None:
        """Drive notes; `away` gets the shards whose absence kept one from being driven."""
        for note in notes:
            try:
                needed = self._needed(note, shard.number)
                if away.isdisjoint(needed) and not any(map(self._lookout.is_silent, needed)):
                    await self._settle(shard, note)
            except DAMAGED as error:
                await _drop(shard, note, error)
            except StoreUnavailable as error:
                log.warning("%s: %s", LEFT, error)
                away.update({SOME} if SOME in needed else needed - {shard.number})
            except StoreError as error:
                log.warning("%s: %s", LEFT, error)

    def _needed(self, note: Note, shard: int) -> set[int]:
        """The shards that it takes to drive a note, as far as it tells."""
        if note.kind in (*OWED, NEW, RESTORED):
            # A later job of the same id may be in any, and so may jobs that wait for this one.
            return {SOME, *range(len(self._shards))}
        return {shard, *(self._names.home(claim.name) for claim in _claims(note, shard))}

    async def _settle(self, shard: Shard, note: Note) -> None:
        if note.kind in OWED:
            await self._names.settle_owed(shard, (note.kind, note.id, note.owed_name()))
        elif note.kind == "r":
            await _replay(shard, self._names, note.id, note.key())
        elif note.kind == COMING:
            # It did not come: edges that lead to it do nothing from now on.
            await shard.send("HDEL", "outbox", COMING.encode() + note.raw)
        elif note.kind == REKEY:
            await rekey(shard, self._names, note.id, note.value)
        elif note.kind == TICK:
            await self._ticks.go_on(note.value[8:])
        else:
            await _let_in(shard, self._names, self._parents, note)


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


async def _drop(shard: Shard, note: Note, error: Exception) -> None:
    """Nobody can tell what it asks for, and every rescue would stop at it."""
    log.warning("a note of %s is damaged and dropped: %r", note.raw, error)
    await shard.send("HDEL", "outbox", note.kind.encode("latin-1") + note.raw)


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
