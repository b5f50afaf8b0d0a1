"""Places for jobs of groups, so that these take turns: see `limits.fairness`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Generator, Sequence
from typing import Final, NamedTuple

from ...limits.fairness import SLOT, search, wanted_place
from .operation import Operation, Statement
from .rows import json_array

AT_ONCE: Final = 12
"""So many slots are looked at in one question, where one after the other is full."""

NOWHERE: Final = 0
"""Less than any place of a job that has a group."""


Search = Generator[tuple[int, int], int | None, int]


class Member(NamedTuple):
    """A job of a group that comes to the end of the line."""

    id: str
    queue: str
    group: str
    weight: int


class Seen(NamedTuple):
    """What is known of the places that are taken in the line of a queue."""

    tops: dict[int, int]
    """the last one of each slot"""
    taken: dict[int, bool]
    """of single places, whether they are"""
    beyond: dict[int, int]
    """of slots that others in front of them are full up to, the first one that was not"""

    def take(self, place: int) -> None:
        self.tops[place // SLOT] = max(place, self.tops.get(place // SLOT, NOWHERE))
        self.taken[place] = True


def places(members: Sequence[Member]) -> Operation[dict[str, int]]:
    """A place for each, in the order of their coming. Nothing of them is in the line yet."""
    by_queue: defaultdict[str, list[Member]] = defaultdict(list)
    for member in members:
        by_queue[member.queue].append(member)
    found: dict[str, int] = {}
    for queue in sorted(by_queue):
        found |= yield from _places(queue, by_queue[queue])
    return found


def _places(queue: str, members: Sequence[Member]) -> Operation[dict[str, int]]:
    # Read under its lock, where engines need one: nobody else gives out places meanwhile.
    rows = yield Statement("clock_of", {"queue": queue})
    clock = rows[0][0] if rows else 0
    groups = sorted({member.group for member in members})
    params = {"queue": queue, "groups": json_array(groups)}
    rows = yield Statement("greatest", params)
    greatest = {group: place for group, place in rows if place is not None}
    seen = Seen({}, {}, {})
    yield from _read(queue, _foreseen(members, clock, greatest), seen)
    found: dict[str, int] = {}
    for member in members:
        searching = search(clock, greatest.get(member.group, NOWHERE), member.weight)
        place = yield from _search(queue, searching, seen)
        greatest[member.group] = found[member.id] = place
        seen.take(place)
    return found


def _search(queue: str, searching: Search, seen: Seen) -> Operation[int]:
    question = next(searching)
    while True:
        answer = yield from _answer(queue, *question, seen)
        try:
            question = searching.send(answer)
        except StopIteration as found:
            place: int = found.value
            return place


def _answer(queue: str, start: int, end: int, seen: Seen) -> Operation[int | None]:
    """The last place that is taken from one to before another, which are of one slot; or the first
    slot that has room."""
    slot = start // SLOT
    if start == end:
        seen.beyond[slot] = yield from _first_free(queue, seen.beyond.get(slot, slot), seen)
        return SLOT * seen.beyond[slot]
    if slot not in seen.tops:
        yield from _read(queue, [slot], seen)
    top = seen.tops[slot]
    if top < end:
        return top if top >= start else None
    if end == start + 1 and start in seen.taken:
        return start if seen.taken[start] else None
    params = {"queue": queue, "starts": json_array([start]), "slot": end - start}
    rows = yield Statement("tops", params)
    found = [place for (place,) in rows if place is not None]
    if end == start + 1:
        seen.taken[start] = bool(found)
    # Those that this call has given out are not in the line yet.
    found += [place for place in range(start, end) if seen.taken.get(place)]
    return max(found, default=None)


def _first_free(queue: str, slot: int, seen: Seen) -> Operation[int]:
    """The first slot from this one on that is not full: see `fairness.first_free`. Many are looked
    at at once, farther and farther away, and then nearer and nearer."""
    if slot not in seen.tops:
        yield from _read(queue, [slot], seen)
    if _has_room(slot, seen):
        return slot
    low, high = slot, 0
    while high - low != 1:
        if high:
            some = {low + (high - low) * n // AT_ONCE for n in range(1, AT_ONCE)} - {low}
        else:
            some = {low + 2**n for n in range(AT_ONCE)}
        unseen = some - seen.tops.keys()
        if unseen:
            yield from _read(queue, unseen, seen)
        for each in sorted(some):
            if _has_room(each, seen):
                high = each
                break
            low = each
    return high


def _has_room(slot: int, seen: Seen) -> bool:
    return seen.tops[slot] + 1 < (slot + 1) * SLOT


def _foreseen(members: Sequence[Member], clock: int, greatest: dict[str, int]) -> set[int]:
    """The slots that they should come to, if they find no place taken."""
    slots: set[int] = set()
    last = dict(greatest)
    for member in members:
        last[member.group] = wanted_place(clock, last.get(member.group, NOWHERE), member.weight)
        slots.add(last[member.group] // SLOT)
    return slots


def _read(queue: str, slots: Collection[int], seen: Seen) -> Operation[None]:
    starts = json_array([slot * SLOT for slot in sorted(slots)])
    rows = yield Statement("tops", {"queue": queue, "starts": starts, "slot": SLOT})
    seen.tops.update(dict.fromkeys(slots, NOWHERE))
    seen.tops.update({place // SLOT: place for (place,) in rows if place is not None})


def handed_out(queue: str, refs: Sequence[int]) -> Operation[None]:
    """The clock of a queue goes up to the place of what it gives."""
    yield Statement("raise_clock", {"queue": queue, "refs": json_array(list(refs))})
