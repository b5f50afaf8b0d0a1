"""Applying what attempts came to: completed jobs by set, the others as on every engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...core.model import Transition
from ...core.states import FINISHED, State
from ..sql import journal
from ..sql.dependents import Ended, end
from ..sql.finish import ends_of, first_of_each, one_by_one
from ..sql.lanes import conclude
from ..sql.operation import Bulk, Operation, Row, Statement
from ..sql.rows import json_array
from ..sql.tally import Tally

IS_KEPT: Final = Statement("journal_is_kept")


def foreseen(transitions: Sequence[Transition]) -> Sequence[Statement]:
    """What `finish` asks for before it knows the time."""
    plain = [each for each in transitions if _is_plain(each)]
    return [IS_KEPT, _lock(plain)] if plain else [IS_KEPT]


def _is_plain(transition: Transition) -> bool:
    return transition.state is State.COMPLETED and transition.ref > 0 and not transition.refund


def _lock(transitions: Sequence[Transition]) -> Statement:
    # In one order everywhere, so that two who want the same rows wait and do not lock.
    return Statement("lock_claimed", {"refs": sorted({each.ref for each in transitions})})


def finish(transitions: Sequence[Transition], now: int, *, again: bool = False) -> Operation[Ended]:
    """Apply transitions; `again` if a try before may have done so, and its answer was lost."""
    if len({each.id for each in transitions}) < len(transitions):
        transitions = first_of_each(transitions)
    tally = Tally()
    noting = yield from journal.is_kept()
    # What is noted must be written first, even if it is not kept.
    plain = [] if noting else [each for each in transitions if _is_plain(each)]
    others = transitions if noting else [each for each in transitions if not _is_plain(each)]
    applied, awaited, laned = (
        (yield from _complete(plain, tally, now)) if plain else ([], False, [])
    )
    others = [*others, *laned]
    if others:
        applied += yield from one_by_one(others, tally, now, noting)
    owing, ending = False, awaited or any(each.state in FINISHED for each in others)
    if ending:
        owing = yield from end(ends_of(transitions, applied), tally, now, noting)
    yield from conclude(tally, now)
    held = {each.id for each in applied}
    if again and len(held) < len(transitions):
        held |= yield from _done_before([each for each in transitions if each.id not in held])
    return Ended(frozenset(held), owing, ending)


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
    plain: Sequence[Transition], tally: Tally, now: int
) -> Operation[tuple[list[Transition], bool, list[Transition]]]:
    """Those that were applied, whether others wait for one of them, and those that have a slot of
    a lane, which are left to be looked at one by one."""
    asked = {(each.ref, each.fence): each for each in plain}
    rows = [row for row in (yield _lock(plain)) if row[:2] in asked]
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
