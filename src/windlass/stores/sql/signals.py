"""Word that is left for jobs, and jobs that are parked until it comes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...core.model import Transition
from ...core.states import LIVE, State
from .fields import decode_mail, encode_mail
from .lanes import WAITS, conclude
from .line import moved, movers, ripen
from .lock import lock
from .operation import Bulk, Operation, Statement, one
from .rows import Locked, json_array
from .tally import Tally


def signal(id: str, name: str, value: bytes, now: int) -> Operation[bool]:
    found = yield from lock([id])
    if not found or found[0].state not in LIVE:
        return False
    [(_, awaits, record)] = yield Statement("mail", {"ids": json_array([id])})
    mail = dict(decode_mail(record) or {})
    if name not in mail:
        mail[name] = value
        yield Bulk("keep_mail", [(encode_mail(mail), id)])
    job = found[0]
    if awaits == name and job.state == State.SCHEDULED:
        yield from _wake(job, now)
    return mail[name] == value


def _wake(job: Locked, now: int) -> Operation[None]:
    """Let a parked job go on; a ticket, whose time had come once before, waits on in its lane."""
    tally = Tally()
    if job.slot == WAITS:
        yield Bulk("wake", [(now, None, job.id)])
        yield from ripen(movers([(job, State.BLOCKED)]), tally)
    else:
        place = one((yield Statement("next_place", {"number": 1})))
        yield Bulk("wake", [(now, place, job.id)])
        tally.move(job.queue, job.state, State.PENDING)
        yield from moved(movers([(job, State.PENDING)]), tally)
    yield from conclude(tally, now)


def already_told(transitions: Sequence[Transition]) -> Operation[Sequence[Transition]]:
    """Those that await a signal which has come go back to pending. The jobs are locked."""
    parked = [each.id for each in transitions if each.awaits is not None]
    if not parked:
        return transitions
    rows = yield Statement("mail", {"ids": json_array(parked)})
    mail = {id: decode_mail(record) or {} for id, _, record in rows}
    return [
        msgspec.structs.replace(each, state=State.PENDING)
        if each.awaits in mail.get(each.id, ())
        else each
        for each in transitions
    ]
