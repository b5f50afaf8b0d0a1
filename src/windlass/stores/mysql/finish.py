"""Applying what attempts came to: completed jobs by set, the others as on every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ...core.model import Transition, decode_spec
from ...core.states import FINISHED, State
from ..sql import journal
from ..sql.dependents import Ended, end
from ..sql.finish import ends_of, first_of_each, one_by_one
from ..sql.lanes import conclude
from ..sql.operation import Bulk, Operation, Row, Statement
from ..sql.rows import Locked, json_array
from ..sql.tally import Tally

IS_KEPT: Final = Statement("journal_is_kept")


def foreseen(transitions: Sequence[Transition]) -> Sequence[Statement]:
    """What `finish` asks for before it knows the time."""
    plain = [each for each in transitions if _is_plain(each)]
    return [IS_KEPT, _lock(plain, "lock_claimed_free")] if plain else [IS_KEPT]


def _is_plain(transition: Transition) -> bool:
    return transition.state is State.COMPLETED and transition.ref > 0 and not transition.refund


def _lock(transitions: Sequence[Transition], query: str) -> Statement:
    # In one order everywhere, so that two who want the same rows wait and do not lock.
    return Statement(query, {"refs": sorted({each.ref for each in transitions})})


def finish_free(
    transitions: Sequence[Transition], now: int, *, again: bool = False
) -> Operation[Ended]:
    """Apply transitions, but for those of jobs that another transaction has, or whose lanes it has:
    these are named. `again` if a try before may have done so, and its answer was lost."""
    return (yield from finish(transitions, now, again=again, waits=False))


def finish(
    transitions: Sequence[Transition], now: int, *, again: bool = False, waits: bool = True
) -> Operation[Ended]:
    """Apply transitions, and wait for jobs that another transaction has."""
    if len({each.id for each in transitions}) < len(transitions):
        transitions = first_of_each(transitions)
    tally = Tally()
    noting = yield from journal.is_kept()
    # What is noted must be written first, even if it is not kept.
    plain = [] if noting else [each for each in transitions if _is_plain(each)]
    others = transitions if noting else [each for each in transitions if not _is_plain(each)]
    query = "lock_claimed" if waits else "lock_claimed_free"
    applied, awaited, laned = (
        (yield from _complete(plain, query, tally, now)) if plain else ([], False, [])
    )
    others = [*others, *laned]
    if others and not waits:
        others = yield from _free(others)
    if others:
        applied += yield from one_by_one(others, tally, now, noting)
    owing, ending = False, awaited or any(each.state in FINISHED for each in others)
    if ending:
        owing = yield from end(ends_of(transitions, applied), tally, now, noting)
    yield from conclude(tally, now)
    held = {each.id for each in applied}
    busy: frozenset[tuple[str, int]] = frozenset()
    left = [each for each in transitions if each.id not in held]
    if left and not waits:
        busy = yield from _busy(left)
        left = [each for each in left if (each.id, each.fence) not in busy]
    if again and left:
        held |= yield from _done_before(left)
    return Ended(frozenset(held), owing, ending, busy)


def _free(transitions: Sequence[Transition]) -> Operation[list[Transition]]:
    """Those of jobs that no other transaction has, nor their lanes: locked."""
    rows = yield Statement("lock_live", {"ids": sorted({each.id for each in transitions})})
    lanes: dict[str, dict[str, set[str]]] = {}
    jobs = {job.id for job in map(Locked._make, rows)}
    for job in map(Locked._make, rows):
        lane = decode_spec(job.special).lane if job.special is not None else None
        if lane is not None:
            lanes.setdefault(job.queue, {}).setdefault(lane.name, set()).add(job.id)
    for queue in sorted(lanes):
        jobs -= yield from _in_busy_lanes(queue, lanes[queue])
    return [each for each in transitions if each.id in jobs]


def _in_busy_lanes(queue: str, lanes: Mapping[str, set[str]]) -> Operation[set[str]]:
    """Of jobs by the names of their lanes, those in lanes that another transaction has."""
    asked = {"queue": queue, "names": sorted(lanes)}
    free = {name for (name,) in (yield Statement("free_lanes", asked))}
    if len(free) == len(lanes):
        return set()
    known = {name for (name,) in (yield Statement("known_lanes", asked))}
    return {id for name in known - free for id in lanes[name]}


def _busy(transitions: Sequence[Transition]) -> Operation[frozenset[tuple[str, int]]]:
    """Those whose lease holds, and that were passed by."""
    ids = sorted({each.id for each in transitions})
    active = {*(yield Statement("still_claimed", {"ids": ids}))}
    return frozenset([c for each in transitions if (c := (each.id, each.fence)) in active])


def _done_before(transitions: Sequence[Transition]) -> Operation[set[str]]:
    """The ids of those that stand as their transition left them."""
    ids = sorted({each.id for each in transitions})
    done = {*(yield Statement("done_before", {"ids": ids}))}
    return {
        each.id
        for each in transitions
        if (each.id, each.fence, each.state.value) in done
        # Its signal had come: it went on at once.
        or (each.awaits is not None and (each.id, each.fence, State.PENDING.value) in done)
    }


def _complete(
    plain: Sequence[Transition], query: str, tally: Tally, now: int
) -> Operation[tuple[list[Transition], bool, list[Transition]]]:
    """Those that were applied, whether others wait for one of them, and those that have a slot of
    a lane, which are left to be looked at one by one."""
    asked = {(each.ref, each.fence): each for each in plain}
    rows = [row for row in (yield _lock(plain, query)) if row[:2] in asked]
    laned = [asked[row[:2]] for row in rows if row[5] is not None]
    done = [(row, asked[row[:2]]) for row in rows if row[5] is None]
    kept = [row[0] for row, _ in done if row[3] > 0]
    if kept:
        yield Statement("complete", {"refs": kept, "now": now})
        results: list[Row] = [
            (each.result, now, each.ref)
            for row, each in done
            if each.result is not None and row[3] > 0
        ]
        if results:
            yield Bulk("set_result", results)
    if done:
        yield Statement("remove", {"numbers": json_array([row[0] for row, _ in done])})
    for (_, _, queue, keep, _, _), _ in done:
        tally.move(queue, State.ACTIVE, State.COMPLETED if keep > 0 else None)
    return [each for _, each in done], any([row[4] for row, _ in done]), laned
