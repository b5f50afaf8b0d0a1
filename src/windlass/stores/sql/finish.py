"""Applying what attempts came to, fenced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...core.model import Transition
from ...core.states import FINISHED, State
from . import journal, windows
from .dependents import Ended, end
from .fields import encode_failure
from .lanes import conclude
from .line import moved, movers
from .lock import lock
from .operation import Bulk, Operation, Row, Statement, one
from .rows import Locked, expires_at, json_array, to_end
from .signals import already_told
from .tally import Tally


def finish(transitions: Sequence[Transition], now: int) -> Operation[Ended]:
    """Completions, nearly all of the traffic, go by set; the rest is looked at one by one."""
    if len({each.id for each in transitions}) < len(transitions):
        transitions = first_of_each(transitions)
    tally = Tally()
    noting, has_edges, has_lanes = (yield Statement("finishing"))[0]
    laned = (yield from _in_lanes(transitions)) if has_lanes else frozenset()
    applied: list[Transition] = []
    others: list[Transition] = []
    by_fence: dict[int, list[Transition]] = {}
    for each in transitions:
        if each.state is State.COMPLETED and each.ref and each.ref not in laned:
            by_fence.setdefault(each.fence, []).append(each)
        else:
            others.append(each)
    for fence, claimed in by_fence.items():
        if (yield from _complete(claimed, fence, tally, now, noting)):
            applied += claimed
        else:
            others += claimed
    if others:
        applied += yield from one_by_one(others, tally, now, noting)
    owing = False
    if has_edges:
        owing = yield from end(ends_of(transitions, applied), tally, now, noting)
    yield from conclude(tally, now)
    return Ended(frozenset([each.id for each in applied]), owing)


def _in_lanes(transitions: Sequence[Transition]) -> Operation[frozenset[int]]:
    """Where the store has those of these jobs that have a slot."""
    refs = [each.ref for each in transitions if each.ref]
    rows = yield Statement("in_lanes", {"refs": json_array(refs)})
    return frozenset([ref for (ref,) in rows])


def ends_of(asked: Sequence[Transition], applied: Sequence[Transition]) -> dict[str, str]:
    """Of what was applied, the jobs that ended by it and how, in the order asked."""
    done = {(each.id, each.fence) for each in applied if each.state in FINISHED}
    return {each.id: each.state for each in asked if (each.id, each.fence) in done}


def first_of_each(transitions: Sequence[Transition]) -> list[Transition]:
    """By fence too: a late write must not stand in the way of the owner's in the same batch."""
    first: dict[tuple[str, int], Transition] = {}
    for transition in transitions:
        first.setdefault((transition.id, transition.fence), transition)
    return list(first.values())


COMPLETIONS: Final = (("complete", State.COMPLETED), ("complete_and_drop", None))
"""Queries, and the state after them; what is dropped at once cannot be noted any more."""


def _complete(
    transitions: Sequence[Transition], fence: int, tally: Tally, now: int, noting: bool
) -> Operation[bool]:
    """Complete jobs of one claim if all are still held, and all are to be kept or none is.

    The number of rows tells. To ask for the rows themselves would take a third longer, and
    that it was not all of them is rare enough to undo it and look at each.
    """
    refs = json_array([each.ref for each in transitions])
    done = False
    yield Statement("savepoint")
    for query, after in COMPLETIONS[:1] if noting else COMPLETIONS:
        changed = yield Bulk(query, [(now, now, refs, fence) if after else (refs, fence)])
        if changed == len(transitions):
            tally.move_all([each.queue for each in transitions], State.ACTIVE, after)
            done = True
            break
        yield Statement("undo")
    yield Statement("release")
    results = [(each.result, each.ref) for each in transitions if each.result is not None]
    if done and after and results:
        yield Bulk("set_result", results)
    if done and noting:
        yield from journal.note([each.id for each in transitions], now, ran=True)
    return done


def one_by_one(
    transitions: Sequence[Transition], tally: Tally, now: int, noting: bool
) -> Operation[list[Transition]]:
    """Those that were applied: their lease still held. Dependents are the caller's to see to."""
    jobs = {job.id: job for job in (yield from lock(each.id for each in transitions))}
    transitions = yield from already_told(transitions)
    ended: list[Row] = []
    refunded: list[Row] = []
    dropped: list[Row] = []
    counted: list[Row] = []
    waiting: list[tuple[Transition, Locked]] = []
    applied: list[Transition] = []
    for transition in transitions:
        job = jobs.get(transition.id)
        if job is None or job.state != State.ACTIVE or job.fence != transition.fence:
            continue
        applied.append(transition)
        expiry = expires_at(transition.state, job.keep, now)
        drop = transition.state in FINISHED and expiry == now
        tally.move(job.queue, job.state, None if drop else transition.state)
        lost = 0 if transition.state is State.COMPLETED else transition.lost
        if lost != job.lost and (noting or not drop):
            counted.append((lost, job.id))
        if drop:
            dropped.append((job.id,))
        if transition.state in FINISHED and (noting or not drop):
            state, error, result = transition.state, transition.error, transition.result
            ended.append(to_end(job.id, state, now, expiry, error, result))
            if transition.refund:
                refunded.append((job.id,))
        elif transition.state not in FINISHED:
            waiting.append((transition, job))
    if refunded:
        yield Bulk("refund", refunded)
    if counted:
        yield Bulk("count_lost", counted)
    cancelled = [each.id for each in applied if each.state is State.CANCELLED]
    if cancelled:
        yield from windows.free(cancelled)
    if ended:
        yield Bulk("end", ended)
    if waiting:
        yield from _send_back(waiting, now)
    if noting:
        yield from journal.note(sorted(each.id for each in applied), now, ran=True)
    if dropped:
        yield Bulk("drop", dropped)
    after = [(jobs[each.id], each.state) for each in applied]
    yield from moved(movers(after, front=True), tally)
    return applied


def _send_back(waiting: list[tuple[Transition, Locked]], now: int) -> Operation[None]:
    """Let jobs wait again: for their time, or at the front of the line if they are pending."""
    place = one((yield Statement("next_front", {"number": len(waiting)})))
    rows = []
    for offset, (transition, job) in enumerate(waiting):
        due: int | None = None
        front: int | None = None
        if transition.state is State.PENDING:
            front = place + offset
        else:
            due = now + transition.delay if transition.due is None else transition.due
        attempt = job.attempt - transition.refund
        error = encode_failure(transition.error)
        state, awaits = transition.state, transition.awaits
        # Released, it still has not got what did not come in time.
        stays = int(state is State.PENDING and awaits is None)
        awaits = awaits if state is State.SCHEDULED else None
        rows.append((state.value, due, front, attempt, error, stays, awaits, job.id))
    yield Bulk("send_back", rows)
