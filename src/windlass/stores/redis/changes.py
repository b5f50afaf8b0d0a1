"""What people change by id: jobs are found first, in whichever shard, then changed there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from ...core.model import Spec
from ...core.states import DELETABLE
from .attempts import Attempts
from .discarding import discard
from .edges import Ending
from .lookout import Lookout, has_all
from .names import Names
from .parents import Dependent, Parents
from .portions import parts
from .record import pack_id
from .shard import Answer, Shard
from .together import together
from .unblocking import Unblocking

Word = str | bytes | int

Step = Callable[[Shard, Sequence[str], Sequence[str]], Awaitable[Answer]]
"""With jobs of a shard, and their queues."""

COMING: Final = "p"
"""The kind of notes in the outbox for jobs that are replayed, and blocked by it."""


class Here(NamedTuple):
    """Jobs that one shard has, with their queues."""

    shard: Shard
    queues: dict[str, str]


async def locate(shards: Sequence[Shard], lookout: Lookout, ids: Sequence[str]) -> list[Here]:
    """Where jobs are; each shard's in the order asked, each once. Shards that are down are waited
    for only if some job is nowhere else."""
    if not ids:
        return []
    asked = list(dict.fromkeys(ids))
    answers = await lookout.all(
        lambda number: shards[number].located(asked), lambda answers: has_all(answers, asked)
    )
    return [Here(shards[number], found) for number, found in sorted(answers.items()) if found]


class Changes:
    """Cancels, deletes, prioritizes, reschedules and replays jobs by their ids; each says for which
    it did."""

    def __init__(
        self,
        shards: Sequence[Shard],
        names: Names,
        parents: Parents,
        unblocking: Unblocking,
        attempts: Attempts,
        lookout: Lookout,
    ) -> None:
        self._shards = shards
        self._lookout = lookout
        self._attempts = attempts
        self._names = names
        self._parents = parents
        self._unblocking = unblocking

    async def change(self, script: str, ids: Sequence[str], *words: Word) -> frozenset[str]:
        found = await locate(self._shards, self._lookout, ids)
        return await self._each(
            found, ids, lambda shard, part, queues: shard.change(script, part, queues, *words)
        )

    async def delete(self, ids: Sequence[str], states: str, moved: bool) -> frozenset[str]:
        found = await locate(self._shards, self._lookout, ids)
        # In which state a damaged one is nobody knows: it goes if any may.
        done = await self._each(
            found,
            ids,
            lambda shard, part, queues: shard.delete(part, queues, states, int(moved)),
            with_damaged=len(states) == len(DELETABLE),
        )
        elsewhere = [
            id
            for here in found
            for id in here.queues
            if id in done and not self._attempts.is_at_home(id, here.shard)
        ]
        await self._attempts.forget(elsewhere)
        return done

    async def _each(
        self, found: Sequence[Here], ids: Sequence[str], step: Step, *, with_damaged: bool = False
    ) -> frozenset[str]:
        """Take a step with jobs where they are; those for which it was carried out."""
        done: set[str] = set()
        endings: list[Ending] = []
        for shard, queues in found:
            for part in parts(list(queues)):
                needed = list({queues[id]: None for id in part})
                answer = await step(shard, part, needed)
                for id in answer.damaged if with_damaged else ():
                    left = await discard(shard, id, shared=len(self._shards) > 1)
                    endings += left.endings
                    done |= await self._names.pay(shard, left)
                endings += answer.endings
                done |= await self._names.pay(shard, answer)
        await self._unblocking.see_to(in_order(endings, ids))
        return frozenset(done)

    async def replay(self, ids: Sequence[str]) -> frozenset[str]:
        done: set[str] = set()
        places = await locate(self._shards, self._lookout, ids)
        found = await together([here.shard.related(list(here.queues)) for here in places])
        related = {id: spec for answer in found for id, spec in answer.items()}
        for part in _one_by_one(ids, related):
            for shard, queues in await locate(self._shards, self._lookout, part):
                for some in parts(list(queues)):
                    here = {id: queues[id] for id in some}
                    if some[0] in related:
                        done |= await self._replay_related(shard, here, related[some[0]])
                    else:
                        done |= await self._replay(shard, here)
        return frozenset(done)

    async def _replay_related(
        self, shard: Shard, queues: dict[str, str], spec: Spec
    ) -> frozenset[str]:
        """Replay one job that is blocked again by those of its parents that are live."""
        ((id, queue),) = queues.items()
        await shard.run("intend", (), [COMING, pack_id(id), b""])
        job = Dependent(id, queue, shard.number, spec.parents, spec.runs_anyway, replayed=True)
        (told,) = await self._parents.tell([job])
        done = await self._replay(shard, queues, told.tails)
        if not (done and told.tails):
            await self._names.forget_intents(shard, [id])
        await self._unblocking.look_at(told.where)
        return done

    async def _replay(
        self, shard: Shard, queues: dict[str, str], tails: Sequence[bytes] = ()
    ) -> frozenset[str]:
        """Replay jobs of one shard; those whose unique key another shard keeps get it first."""
        ids = list(queues)
        keys = await shard.remote_keys(ids) if len(self._shards) > 1 else {}
        taken = set(await self._names.take_keys(shard, keys)) if keys else set()
        ready = [id for id in ids if id not in keys or id in taken]
        done: frozenset[str] = frozenset()
        if ready:
            needed = list({queues[id]: None for id in ready})
            done = await shard.replay(ready, needed, bool(keys), tails)
        void = {id: keys[id] for id in taken if id not in done}
        if void:
            await self._names.give_back(shard, void)
        return done


def in_order(endings: Iterable[Ending], ids: Sequence[str]) -> list[Ending]:
    """Endings in the order in which their jobs were named."""
    place = {id: n for n, id in reversed(list(enumerate(ids)))}
    return sorted(endings, key=lambda ending: place.get(ending.parent, 0))


def _one_by_one(ids: Sequence[str], related: Container[str]) -> Iterator[Sequence[str]]:
    """Ids in portions, in their order: one that depends on others by itself, for these may be
    among them."""
    part: list[str] = []
    for id in dict.fromkeys(ids):
        if id in related:
            if part:
                yield part
            yield [id]
            part = []
        else:
            part.append(id)
    if part:
        yield part
