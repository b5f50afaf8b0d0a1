"""Seeing to the dependents of jobs that have ended, a bounded number at a time.

The step that ends a job notes it (`lua/shared/endings.lua`), and its process goes on from there at
once. A step reads some edges where the parent is, closes the waits where the dependents are, and
then drops the edges, and the note with the last of them. Each can be repeated without harm: so
whoever finds a note goes on with it, and several at once do not disturb each other.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from itertools import count, islice
from typing import Final, NamedTuple

from ...errors import StoreError
from .edges import HERE, Edge, Ending, read_edge
from .errands import Errands
from .io import Word
from .lookout import Lookout
from .names import Names
from .replies import read_owed
from .shard import Shard

log = logging.getLogger("windlass")

LARGEST_STEP: Final = 250
"""Dependents in one step."""

MOST_ENDINGS: Final = 250
STEPS_AT_ONCE: Final = 2
PATIENCE: Final = 2.0
"""Steps, and seconds, for which the process that has ended a job is held up by its dependents: it
has other jobs to end. The rest goes on in the background."""

LATER: Final = "what waits for ended jobs is released later"


class Seen(NamedTuple):
    """What one step came to."""

    number: int
    """how many endings and dependents it got further with"""
    followed: list[Ending]
    """those of jobs that were cancelled by it"""
    early: bool = False
    """some dependents have yet to come in, or could not be reached"""
    left: Sequence[Ending] = ()
    """those that it did not come to the end of, in order"""


class Closing(NamedTuple):
    """An ending with some of its edges."""

    ending: Ending
    edges: Sequence[Edge]
    last: bool = False
    """whether it has no other"""


class Unblocking:
    """Goes on with endings, of this process or of any."""

    def __init__(
        self, shards: Sequence[Shard], names: Names, lookout: Lookout, errands: Errands
    ) -> None:
        self._shards = shards
        self._names = names
        self._lookout = lookout
        self._errands = errands
        self._from: Counter[int] = Counter()
        """of each shard, the first ending to look at"""

    async def see_to(self, endings: Sequence[Ending]) -> None:
        """See to what was just noted; what takes longer goes on after the return."""
        if endings:
            await self._errands.run(LATER, [self._begin(deque(endings))], PATIENCE)

    async def _begin(self, left: deque[Ending]) -> None:
        await self._drive(left, STEPS_AT_ONCE)
        if left:
            await self._errands.run(LATER, [self._drive(left)])

    async def _drive(self, left: deque[Ending], steps: int | None = None) -> None:
        """Until nothing is owed by these, or by what is cancelled with them; parents first."""
        for _ in count() if steps is None else range(steps):
            if not left:
                return
            shard = left[0].shard
            number = next((n for n, each in enumerate(left) if each.shard != shard), len(left))
            some = list(islice(left, min(number, MOST_ENDINGS)))
            seen = await self._step(some, LARGEST_STEP)
            for _ in some:
                left.popleft()
            # Without any progress others have yet to come in: it is for whoever finds the note.
            if seen.number:
                left.extendleft(reversed(seen.left))
            left.extend(seen.followed)

    async def unblock(self, limit: int) -> int:
        """Go on with what was left behind, in all shards that can be reached."""
        found = await self._lookout.ask(range(len(self._shards)), self._noted)
        number = 0
        for shard, endings in found.items():
            if endings and number < limit:
                number += await self._go_on(shard, endings, min(limit - number, LARGEST_STEP))
        return number

    async def _go_on(self, shard: int, endings: Sequence[Ending], limit: int) -> int:
        try:
            number = (await self._step(endings, limit)).number
        except StoreError as error:
            log.warning("%s: %s", LATER, error)
            return 0
        # Those that cannot be done now must not be in the way of others.
        stuck = number == 0 and len(endings) == MOST_ENDINGS
        self._from[shard] = self._from[shard] + MOST_ENDINGS if stuck else 0
        return number

    async def look_at(self, shards: Iterable[int]) -> None:
        """See to what ended while a job that depends on it was on its way."""
        for number in shards:
            await self.see_to(await self._noted(number))

    async def _noted(self, number: int) -> list[Ending]:
        first = self._from[number]
        last = first + MOST_ENDINGS - 1
        found = await self._shards[number].send("ZRANGE", "endings", first, last)
        self._from[number] = first if found else 0
        return [Ending(number, raw) for raw in found]

    async def _step(self, endings: Sequence[Ending], limit: int) -> Seen:
        """Go on with endings of one shard."""
        number = endings[0].shard
        words: list[Word] = [limit, *(ending.raw for ending in endings)]
        found = await self._shards[number].run("dependents", (), words)
        # If the limit was reached, the last one may have more.
        done = len(found) - (sum(map(len, found)) >= limit)
        closings = [
            Closing(ending, [read_edge(raw) for raw in edges], n < done)
            for n, (ending, edges) in enumerate(zip(endings, found, strict=False))
        ]
        seen = await self._close(number, closings)
        return seen._replace(left=endings[done:])

    async def _close(self, number: int, closings: Sequence[Closing]) -> Seen:
        where = {edge.shard for closing in closings for edge in closing.edges}
        if len(self._shards) == 1:
            where.add(number)  # an ending without edges is to be dropped as well
        forwards = any(not edge.child for closing in closings for edge in closing.edges)
        if where == {number} and not forwards:
            return await self._close_here(number, closings)
        return await self._close_elsewhere(number, where, closings)

    async def _close_here(self, number: int, closings: Sequence[Closing]) -> Seen:
        """Parents and dependents in one shard: one step for both."""
        early, followed = await self._release(number, number, closings)
        return _seen(closings, early, [ending for _, ending in sorted(followed)])

    async def _close_elsewhere(
        self, number: int, where: set[int], closings: Sequence[Closing]
    ) -> Seen:
        early: set[int] = set()
        followed: list[tuple[int, Ending]] = []
        for shard in sorted(where):
            part = [
                Closing(
                    closing.ending,
                    [edge for edge in closing.edges if edge.shard == shard and edge.child],
                )
                for closing in closings
            ]
            positions = [
                n
                for n, edge in enumerate(edge for closing in closings for edge in closing.edges)
                if edge.shard == shard and edge.child
            ]
            if not positions:
                continue
            try:
                late, more = await self._release(number, shard, part)
            except StoreError as error:
                log.warning("some of what waits for ended jobs is released later: %s", error)
                late, more = set(range(len(positions))), []
            early |= {positions[n] for n in late}
            followed += [(positions[n], ending) for n, ending in more]
        at = 0
        for closing in closings:
            for edge in closing.edges:
                if not edge.child and not await self._follow(closing.ending.elsewhere(edge.shard)):
                    early.add(at)
                at += 1
        await self._settle(number, closings, early)
        return _seen(closings, early, [ending for _, ending in sorted(followed)])

    async def _follow(self, ending: Ending) -> bool:
        """See to all that wait for a parent in a shard where it is not; whether that is done."""
        while True:
            seen = await self._step([ending], LARGEST_STEP)
            await self._drive(deque(seen.followed))
            if seen.early or not seen.left:
                return not seen.early

    async def _release(
        self, parents: int, dependents: int, closings: Sequence[Closing]
    ) -> tuple[set[int], list[tuple[int, Ending]]]:
        """Close waits; the positions of those that have yet to come in, and new endings."""
        shard, own = self._shards[dependents], parents == dependents
        queues = list({edge.queue: None for closing in closings for edge in closing.edges})
        words: list[Word] = [int(own)]
        for closing in closings:
            ending, edges = closing.ending, closing.edges
            done = ending.completed
            where = bytes((HERE if own else parents,))
            why = b"" if done else ending.why
            words += (ending.raw, int(done), int(closing.last), why, where, len(edges))
            words += (edge.raw for edge in edges)
        early, owed, more = await shard.run("release", queues, words)
        if owed:
            await self._names.pay_owed(shard, read_owed(owed))
        followed = zip(more[::2], more[1::2], strict=True)
        return set(early), [(n, Ending(dependents, raw)) for n, raw in followed]

    async def _settle(self, number: int, closings: Sequence[Closing], early: set[int]) -> None:
        words: list[Word] = []
        at = 0
        for ending, edges, _ in closings:
            done = [edge.raw for n, edge in enumerate(edges, at) if n not in early]
            words += (ending.raw, len(done), *done)
            at += len(edges)
        await self._shards[number].run("settle", (), words)


def _seen(closings: Sequence[Closing], early: set[int], followed: list[Ending]) -> Seen:
    empty = sum(not closing.edges for closing in closings)
    edges = sum(len(closing.edges) for closing in closings)
    return Seen(empty + edges - len(early), followed, early=bool(early))
