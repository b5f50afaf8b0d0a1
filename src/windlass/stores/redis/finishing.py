"""Finishing jobs of several shards: what one of them has written counts, whatever the others do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from ...core.model import Transition
from ...errors import StoreUnavailable
from ..doubts import Doubts
from .changes import in_order, locate
from .errands import Errands
from .lookout import Lookout
from .names import Names
from .shard import Answer, Shard
from .unblocking import Unblocking

PAYMENT: Final = 2.0
"""Seconds to wait until names are given up at their homes; `redrive` does it otherwise."""

Groups = Mapping[int, Sequence[Transition]]
"""Transitions by shard."""

replace = msgspec.structs.replace


class Finisher:
    """Writes what attempts came to."""

    def __init__(
        self,
        shards: Sequence[Shard],
        names: Names,
        lookout: Lookout,
        errands: Errands,
        unblocking: Unblocking,
    ) -> None:
        self._shards = shards
        self._unblocking = unblocking
        self._names = names
        self._lookout = lookout
        self._errands = errands
        self._doubts = Doubts()

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        groups = await self._by_shard(without_repeats(transitions))
        answers = await self._ask(groups)
        held = frozenset().union(*(answer.ids for answer in answers.values()))
        await self._pay(answers)
        endings = [ending for answer in answers.values() for ending in answer.endings]
        if endings:
            asked = [each.id for each in transitions]
            await self._unblocking.see_to(in_order(endings, asked))
        if len(answers) < len(groups):
            raise StoreUnavailable(
                "Redis does not answer, where some of these jobs are; see that all of its "
                "masters run and can be reached from here, then try again.",
                settled=claims(transitions) - claims(_left(groups, answers)),
                held=held,
            )
        return held

    async def _ask(self, groups: Groups) -> Mapping[int, Answer]:
        doubts = self._doubts
        again = {number for number, group in groups.items() if doubts.any(group)}
        answers: Mapping[int, Answer] = {}
        try:
            answers = await self._lookout.ask(
                groups.keys(),
                lambda n: self._shards[n].finish(groups[n], again=n in again),
                # Who finishes has more to write than this: it is asked again soon.
                insist=False,
            )
        finally:
            doubts.add(_left(groups, answers))
            for number in answers.keys() & again:
                doubts.forget(groups[number])
        return answers

    async def _pay(self, answers: Mapping[int, Answer]) -> None:
        payments = []
        for number, answer in answers.items():
            owed = [
                each
                for each in answer.owed
                if not self._lookout.is_silent(self._names.home(each[2]))
            ]
            if owed:
                payments.append(self._names.pay_owed(self._shards[number], owed))
        if payments:
            await self._errands.run("names of ended jobs stay taken for now", payments, PAYMENT)

    async def _by_shard(self, transitions: Sequence[Transition]) -> Groups:
        """Known by the ref, or looked for."""
        groups: dict[int, list[Transition]] = {}
        unknown = [each.id for each in transitions if not each.ref]
        places = {
            id: (here.shard.number, queue)
            for here in await locate(self._shards, self._lookout, unknown)
            for id, queue in here.queues.items()
        }
        for each in transitions:
            if each.ref:
                groups.setdefault(each.ref - 1, []).append(each)
            elif each.id in places:
                number, queue = places[each.id]
                groups.setdefault(number, []).append(replace(each, queue=queue))
        return groups


def without_repeats(transitions: Sequence[Transition]) -> Sequence[Transition]:
    """The first of each claim: what comes after it comes too late."""
    first: dict[tuple[str, int], Transition] = {}
    for each in transitions:
        first.setdefault((each.id, each.fence), each)
    return transitions if len(first) == len(transitions) else list(first.values())


def claims(transitions: Iterable[Transition]) -> frozenset[tuple[str, int]]:
    return frozenset((each.id, each.fence) for each in transitions)


def _left(groups: Groups, answers: Mapping[int, Answer]) -> list[Transition]:
    """The transitions of those shards that did not answer."""
    return [each for number, group in groups.items() if number not in answers for each in group]
