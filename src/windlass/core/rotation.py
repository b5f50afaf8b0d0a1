"""Whose turn it is: how the queues of a worker share what it can take.

`a:3,b` gives a three jobs for each one of b, while both have jobs. Every queue has a clock,
the number of jobs that it gave divided by its weight, and the next job is that of the queue
whose clock is behind the others. A queue that had nothing to give is let go first the next
time, as far as its share: so one claim is enough to learn that it is still empty, and the
rest is for the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from heapq import heapify, heapreplace
from typing import Final, NamedTuple

from ..errors import ConfigError, InvalidOption
from .name import DIVIDERS, checked_name

EVERY: Final = "*"
HEAVIEST: Final = 1_000


class Served(NamedTuple):
    """A queue that a worker serves, or `*` for each one that is not named, and its weight."""

    name: str
    weight: int = 1


def parse_queues(queues: Sequence[str], *, strict: bool = False) -> tuple[Served, ...]:
    """`a`, `a:3` and `*` as values; `ConfigError` says what is wrong with others.

    What follows the last colon is always a weight: a name with a colon needs one after it.
    """
    if not queues or isinstance(queues, str):
        raise ConfigError("queues must name at least one queue.")
    served = tuple(map(_parse, queues))
    names = set[str]()
    for name, _ in served:
        if name in names:
            raise ConfigError(f"queues has {name!r} twice; name it once.")
        names.add(name)
    if strict and any(each.weight > 1 for each in served):
        raise ConfigError("queues cannot have weights together with strict; leave out one of them.")
    return served


def _parse(text: str) -> Served:
    name, colon, weight = text.rpartition(":")
    if not colon:
        name, weight = text, "1"
    if not (weight.isascii() and weight.isdigit() and 1 <= int(weight[:9]) <= HEAVIEST):
        raise ConfigError(
            f"queues has {text!r}, where {weight!r} is no weight: that is a whole number from 1 "
            f"to {HEAVIEST}, and a name with a colon needs one after it, as in '{text}:1'."
        )
    try:
        checked_name(name, "name of a queue")
    except InvalidOption as error:
        raise ConfigError(f"queues has {text!r}: {error}") from None
    if not DIVIDERS.isdisjoint(name):
        raise ConfigError(f"queues has {text!r}: divide queues by commas, as in a,b.")
    return Served(name, int(weight))


class _Lane:
    """One queue's place in the rotation."""

    __slots__ = ("clock", "dry", "name", "weight")

    def __init__(self, name: str, weight: int, *, dry: bool = False) -> None:
        self.name = name
        self.weight = weight
        self.clock = 0.0
        self.dry = dry
        """it was asked last time, and gave less than it might have"""


class Rotation:
    """Makes the next claim, and learns from what came of the last one.

    Strict queues are tiers of one queue each; all others are one tier. Within a tier turns
    are taken, and a tier is asked for what those before it did not give.
    """

    def __init__(self, served: Sequence[Served], *, strict: bool = False) -> None:
        self._served = served
        self._strict = strict
        self._lanes: dict[str, _Lane] = {}
        self._tiers: list[list[_Lane]] = []
        self.is_open = any(each.name == EVERY for each in served)
        """whether it is to be told, by `meet`, which queues there are"""
        self.names = () if self.is_open else tuple(each.name for each in served)
        """the queues to wait for, as a store's `wait` takes them: none means all"""
        self.meet(())

    def meet(self, others: Iterable[str]) -> None:
        """Serve these queues too, in the place of `*`, and no others that are not named."""
        named = {each.name for each in self._served}
        unnamed = [name for name in others if name not in named or name == EVERY]
        tiers = [
            [self._lane(name, weight) for name in (unnamed if written == EVERY else [written])]
            for written, weight in self._served
        ]
        self._tiers = tiers if self._strict else [[lane for tier in tiers for lane in tier]]
        self._lanes = {lane.name: lane for tier in self._tiers for lane in tier}

    def _lane(self, name: str, weight: int) -> _Lane:
        # One that is new is asked first, as it is most likely to be listed for its new jobs.
        return self._lanes.get(name) or _Lane(name, weight, dry=self.is_open)

    def caps(self, room: int, among: Container[str] | None = None) -> dict[str, int]:
        """The queues to claim `room` jobs from, in order, each with the most it may give.

        Each may give at least one: a claim that brings nothing says that all are empty. `among`
        are those that can be asked at all now; None is every one.
        """
        if len(self._lanes) == 1 and among is None:
            return dict.fromkeys(self._lanes, room)
        caps: dict[str, int] = {}
        for tier in self._tiers:
            lanes = tier if among is None else [lane for lane in tier if lane.name in among]
            caps.update(_turns(lanes, room))
        return caps

    @property
    def queues(self) -> Iterable[str]:
        """All that are served, as far as they are known."""
        return self._lanes

    def note(self, caps: Mapping[str, int], room: int, queues: Iterable[str]) -> None:
        """Learn from a claim: `queues` has the queue of each job that it brought.

        Some may not be among those that were asked for: what a former claim took, whose answer was
        lost, comes with the next one.
        """
        if len(self._lanes) == 1:
            return
        given = Counter(queues)
        for name, most in caps.items():
            lane = self._lanes[name]
            # With no room left it was not asked, and must not lose its turn by that.
            lane.dry = given[name] < min(most, room)
            lane.clock += given[name] / lane.weight
            room -= given[name]


def _turns(lanes: Sequence[_Lane], room: int) -> dict[str, int]:
    """The caps of queues that take turns, in order.

    By their clocks, those that were empty before others, up to their share of everything.
    Those without a turn this time, and the last of all, may give whatever is left over.
    """
    if len(lanes) < 2:
        return {lane.name: room for lane in lanes}
    wet = [lane for lane in lanes if not lane.dry]
    # An empty queue saves no turns up. With all of them empty nobody was kept waiting.
    now = min(lane.clock for lane in wet) if wet else max(lane.clock for lane in lanes)
    for lane in lanes:
        if lane.dry and lane.clock < now:
            lane.clock = now
    total = sum(lane.weight for lane in lanes)
    shares = _shares(wet or lanes, room)
    caps: dict[str, int] = {}
    behind: dict[str, int] = {}
    for lane in sorted(lanes, key=lambda lane: (lane.clock, not lane.dry)):
        if lane.name in shares:
            caps[lane.name] = shares[lane.name]
        elif lane.dry and wet:
            caps[lane.name] = max(1, room * lane.weight // total)
        else:
            behind[lane.name] = room
    caps |= behind
    caps[next(reversed(caps))] = room
    return caps


def _shares(lanes: Sequence[_Lane], room: int) -> dict[str, int]:
    """`room` jobs, one by one to the queue whose clock is behind, the first of several."""
    heap = [(lane.clock, n) for n, lane in enumerate(lanes)]
    heapify(heap)
    shares: dict[str, int] = {}
    for _ in range(room):
        clock, n = heap[0]
        lane = lanes[n]
        shares[lane.name] = shares.get(lane.name, 0) + 1
        heapreplace(heap, (clock + 1 / lane.weight, n))
    return shares
