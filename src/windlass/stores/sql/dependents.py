"""What the end of jobs means for those that depend on them, a bounded number at a time.

An edge leads from a parent to a dependent, from the insert of the dependent until the parent has
ended. Who ends a parent closes its edges, some of them in the same transaction; the rest is noted
there, as owed, and `unblock` goes on with it. A dependent is looked at under its lock: so of two
parents that end at the same moment, the second finds that it was the last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ...core.dependents import Fate, fate, orphaned
from ...core.model import Failure
from ...core.states import State
from . import journal
from .cancel import call_off
from .fields import decode_failure, encode_failure
from .lanes import conclude
from .line import moved, movers
from .operation import Bulk, Operation, Row, Statement, one
from .rows import Blocked, Locked, json_array, to_blocked
from .tally import Tally

BATCH: Final = 100
"""The most edges that the transaction which ends a job sees to; of many jobs, one of each."""

STEP: Final = 500
"""How many the steps after that see to."""


class End(NamedTuple):
    """The end of a job that others wait for."""

    id: str
    why: Failure | None
    """of those that are orphaned by it; None if it was completed"""
    until: int | None = None
    """the last edge that it concerns: later ones are of another life of the job"""
    note: int | None = None
    """where it is noted"""


class Edge(NamedTuple):
    """That a job waits for another; in the order of `edges.sql`."""

    parent: str
    serial: int
    child: str
    runs_anyway: int


class Ended(NamedTuple):
    """What a step that ends jobs came to: those that it was for, and whether it owes the rest."""

    ids: frozenset[str]
    owing: bool = False
    released: bool = False
    """whether dependents may have been let go on, where an engine asks"""
    busy: frozenset[tuple[str, int]] = frozenset()
    """claims that other transactions have, where an engine passes these by"""


def ids_of(operation: Operation[Ended]) -> Operation[frozenset[str]]:
    """For callers that leave to others what is owed."""
    return (yield from operation).ids


def parents_among(ids: Iterable[str]) -> Operation[set[str]]:
    """Those of these jobs that others wait for."""
    asked = list(ids)
    if not asked:
        return set()
    return {id for (id,) in (yield Statement("parents", {"ids": json_array(asked)}))}


def end(
    ended: Mapping[str, str], tally: Tally, now: int, noting: bool | None = None
) -> Operation[bool]:
    """See to the dependents of jobs that this transaction ends, each with the word for how it does.

    True if there is more to do, which is noted.
    """
    ends = [
        End(id, None if how == State.COMPLETED else orphaned(id, how)) for id, how in ended.items()
    ]
    left, _ = yield from _see_to(ends, max(BATCH, len(ends)), tally, now, noting)
    yield from _owe(left)
    return bool(left)


def unblock(limit: int, now: int, parents: Sequence[str] = ()) -> Operation[int]:
    """Go on with what is owed and that nobody else is at; with what these parents owe, if given."""
    if parents:
        turns = {id: n for n, id in enumerate(parents)}
        rows = yield Statement("owed_by", {"ids": json_array(list(parents))})
        rows = sorted(rows, key=lambda row: turns[row[1]])
    else:
        rows = yield Statement("owed", {"limit": limit})
        # That nothing is owed can only be said when those who are at it are through.
        rows = rows or (yield Statement("owed_yet", {"limit": limit}))
    if not rows:
        return 0
    tally = Tally()
    ends = [End(parent, decode_failure(why), until, note) for note, parent, until, why in rows]
    left, looked = yield from _see_to(ends, limit, tally, now)
    kept = {each.note for each in left}
    done: list[Row] = [(each.note,) for each in ends if each.note not in kept]
    if done:
        yield Bulk("settle", done)
    yield from _owe(left)
    yield from conclude(tally, now)
    # A note that turned out to be settled was something, too.
    return looked or len(done)


def _owe(ends: Sequence[End]) -> Operation[None]:
    new = [each for each in ends if each.note is None]
    if new:
        until = one((yield Statement("next_place", {"number": 0})))
        yield Bulk("owe", [(each.id, until, encode_failure(each.why)) for each in new])


def _see_to(
    ends: Sequence[End], limit: int, tally: Tally, now: int, noting: bool | None = None
) -> Operation[tuple[Sequence[End], int]]:
    """Close at most `limit` edges; the ends that have more of them, and how many it were.

    What is orphaned ends by it, and so do those that wait for that: generation after generation.
    """
    released: list[Blocked] = []
    looked = 0
    while ends and looked < limit:
        these = {each.id: each for each in reversed(ends)}
        # A job that was replayed can have ended twice: one end after the other.
        left = [each for each in ends if these[each.id] is not each]
        edges, unfinished = yield from _edges(these, limit - looked)
        looked += len(edges)
        ready, orphans = yield from _close(edges, [each for each in ends if each not in left])
        released += ready
        if orphans:
            noting = (yield from journal.is_kept()) if noting is None else noting
            yield from call_off(orphans, tally, now, noting)
        ends = [*unfinished, *left, *(End(job.id, why) for job, why in orphans)]
    if released:
        yield from _release(released, tally, now)
    heads = yield from parents_among(each.id for each in ends)
    return [each for each in ends if each.id in heads], looked


def _edges(ends: Mapping[str, End], limit: int) -> Operation[tuple[list[Edge], list[End]]]:
    """Open edges, parent by parent, and those of the ends that may have more of them."""
    ids = sorted(ends)
    rows = yield Statement("edges", {"ids": json_array(ids), "limit": limit + 1})
    edges = [Edge._make(row) for row in rows]
    if len(edges) <= limit:
        return edges, []
    more = edges.pop()
    unfinished = [ends[id] for id in ids if id > more.parent]
    if _concerns(more, ends[more.parent].until):
        unfinished.insert(0, ends[more.parent])
    return edges, unfinished


def _close(
    edges: Sequence[Edge], ends: Sequence[End]
) -> Operation[tuple[list[Blocked], list[tuple[Locked, Failure]]]]:
    """The dependents that are ready by it, in the order of their coming, and the orphans."""
    untils = {each.id: each.until for each in ends}
    edges = [edge for edge in edges if _concerns(edge, untils[edge.parent])]
    if not edges:
        return [], []
    children = yield from _lock(edge.child for edge in edges)
    # They came in the order of their serials: with the last one of a parent all before it go.
    last = {edge.parent: edge.serial for edge in edges}
    yield Bulk("close_edges", sorted(last.items()))
    waiting = yield from _waiting(children)
    here = Counter(edge.child for edge in edges)
    by_parent: defaultdict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        by_parent[edge.parent].append(edge)
    ready: list[Blocked] = []
    orphans: list[tuple[Locked, Failure]] = []
    for each in ends:
        together: list[Blocked] = []
        for edge in by_parent[each.id]:
            here[edge.child] -= 1
            if edge.child not in children:
                continue
            match fate(
                completed=each.why is None,
                runs_anyway=bool(edge.runs_anyway),
                open_parents=here[edge.child] + (edge.child in waiting),
            ):
                case Fate.READY:
                    together.append(children.pop(edge.child))
                case Fate.CANCELLED if each.why is not None:
                    orphans.append((children.pop(edge.child).job, each.why))
        ready += sorted(together, key=lambda child: child.place)
    return ready, orphans


def _concerns(edge: Edge, until: int | None) -> bool:
    return until is None or edge.serial <= until


def _lock(ids: Iterable[str]) -> Operation[dict[str, Blocked]]:
    wanted = json_array(sorted(set(ids)))
    rows = yield Statement("lock_blocked", {"ids": wanted})
    return {child.job.id: child for child in map(to_blocked, rows)}


def _waiting(ids: Collection[str]) -> Operation[set[str]]:
    """Those of these dependents that have an open edge."""
    if not ids:
        return set()
    return {id for (id,) in (yield Statement("waiting", {"ids": json_array(list(ids))}))}


def _release(children: Sequence[Blocked], tally: Tally, now: int) -> Operation[None]:
    """Let dependents go on that wait for nobody any more: at the end of the line, in this order."""
    number = len(children)
    place = one((yield Statement("next_place", {"number": number}))) - number
    rows: list[Row] = []
    after: list[tuple[Locked, str]] = []
    for n, child in enumerate(children, 1):
        state = State.SCHEDULED if child.due > now else State.PENDING
        at = place + n if state is State.PENDING else None
        rows.append((state.value, child.due, at, child.job.id))
        tally.move(child.job.queue, State.BLOCKED, state)
        after.append((child.job, state))
    yield Bulk("reschedule", rows)
    yield from moved(movers(after), tally)
