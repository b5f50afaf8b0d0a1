"""Applying what attempts came to: completions in one statement, the rest one by one."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from ...core.model import Lease, Transition
from ...core.states import State
from ..sql import journal
from ..sql.dependents import Ended, end
from ..sql.finish import ends_of, first_of_each, one_by_one
from ..sql.lanes import conclude
from ..sql.operation import Operation, Statement
from ..sql.renewal import Renewed
from ..sql.rows import json_array
from ..sql.tally import Tally
from .insert import given, shared
from .lanes import hold_lanes

PATIENCE: Final = "200ms"
"""How long a completion waits for a job that another transaction has."""

FOR_EVER: Final = "0"


class Completed(NamedTuple):
    """The jobs that were held, and those of them that others wait for, in the order asked."""

    held: frozenset[str]
    awaited: Sequence[str] = ()
    laned: bool = False
    """one of them has a slot of a lane: nothing was done"""


def is_plain(transition: Transition) -> bool:
    """Whether this is a completion as nearly all are."""
    return (
        transition.state is State.COMPLETED and not transition.refund and transition.error is None
    )


def complete(
    transitions: Sequence[Transition],
    now: int | None,
    *,
    again: bool = False,
    alone: bool = True,
    patience: str = PATIENCE,
) -> Operation[Completed]:
    """Complete jobs, all of them plainly.

    If `alone`, without a transaction, what is owed to dependents is noted, to be seen to
    afterwards, and jobs that have a slot of a lane are not for this. `again` if a call
    whose answer was lost may have done it: what stands as that call would have left it counts as
    held, and may owe something.
    """
    if not transitions:
        return Completed(frozenset())
    if len({each.id for each in transitions}) < len(transitions):
        transitions = first_of_each(transitions)
    # In one order everywhere, as all who change several jobs do.
    ordered = sorted(transitions, key=_by_id)
    params = {
        "ids": [each.id for each in ordered],
        "fences": shared([each.fence for each in ordered]),
        "results": given([each.result for each in ordered]),
        "now": now,
        "alone": alone,
        "patience": patience,
    }
    [(_, some, awaited, laned)] = yield Statement("complete", params)
    if laned:
        return Completed(frozenset(), laned=True)
    held = {each.id for each in ordered} if some is None else set(some)
    if again and len(held) < len(ordered):
        held |= yield from _done_before([each for each in ordered if each.id not in held])
        awaited = held
    parents = frozenset(awaited or ())
    return Completed(frozenset(held), [each.id for each in transitions if each.id in parents])


def finish(
    transitions: Sequence[Transition],
    now: int,
    *,
    again: bool = False,
    patience: str | None = None,
) -> Operation[Ended]:
    """Apply all kinds, in a transaction; with `patience` it waits for locks no longer than that."""
    transitions = first_of_each(transitions)
    laned = yield from hold_lanes([each.id for each in transitions], patience)
    plain = [each for each in transitions if is_plain(each) and each.id not in laned]
    others = [each for each in transitions if not is_plain(each) or each.id in laned]
    completed = yield from complete(plain, now, alone=False, patience=patience or FOR_EVER)
    applied = [each for each in plain if each.id in completed.held]
    tally = Tally()
    noting: bool | None = None
    if others:
        noting = yield from journal.is_kept()
        applied += yield from one_by_one(others, tally, now, noting)
    owing = False
    if others or completed.awaited:
        owing = yield from end(ends_of(transitions, applied), tally, now, noting)
    yield from conclude(tally, now)
    held = {each.id for each in applied}
    if again and len(held) < len(transitions):
        held |= yield from _done_before([each for each in transitions if each.id not in held])
    return Ended(frozenset(held), owing)


def finish_free(
    transitions: Sequence[Transition], now: int, *, again: bool
) -> Operation[tuple[Ended, frozenset[str]]]:
    """Apply those whose jobs nobody else has, in a transaction; and the ids of the others."""
    rows = yield Statement("busy", {"ids": json_array([each.id for each in transitions])})
    busy = frozenset([id for (id,) in rows])
    free = [each for each in transitions if each.id not in busy]
    return (yield from finish(free, now, again=again)), busy


def renew(
    leases: Sequence[Lease],
    lease: int,
    now: int | None,
    known: AbstractSet[tuple[str, int]] = frozenset(),
) -> Operation[Renewed]:
    """Extend leases; those `known` from the last time only if a quarter of them is gone."""
    if not leases:
        return Renewed()
    ordered = sorted(leases, key=_by_id)
    ids, fences = [each.id for each in ordered], [each.fence for each in ordered]
    params = {"ids": ids, "fences": fences, "lease": lease, "now": now}
    lately = [(each.id, each.fence) in known for each in ordered]
    rows = yield Statement("renew", {**params, "lately": lately})
    doubted = frozenset(id for id, doubt in rows if doubt)
    return Renewed(frozenset(id for id, _ in rows) - doubted, doubted)


def _by_id(each: Transition | Lease) -> str:
    return each.id


def _done_before(transitions: Sequence[Transition]) -> Operation[set[str]]:
    """Those that stand as we left them under our fence, or are gone as what is not kept is."""
    params = {
        "ids": [each.id for each in transitions],
        "fences": [each.fence for each in transitions],
        "states": [each.state.value for each in transitions],
    }
    return {id for (id,) in (yield Statement("done_before", params))}
