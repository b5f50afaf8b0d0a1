"""The contract of a store as procedures that a request names: who may call each, and how.

They serve `windlass.connect` and every other process that has a URL of this server for its store.
Arguments and answers are those of the contract, in MessagePack (see `stores/remote/calls.py`). A
method without a rule here is not offered, and a test says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from ..core.apikey import Role
from ..core.attempts import AttemptRecord
from ..core.codec import too_large
from ..core.context import MAX_NOTE
from ..core.duration import LONGEST_MS
from ..core.model import Failure, Job, Page, Progress, Receipt
from ..core.name import checked_name
from ..core.outcome import failure_from
from ..core.schedule import Schedule
from ..core.states import AFTER_ACTIVE
from ..core.workers import UPKEEP, Term
from ..errors import Forbidden, InvalidOption, PayloadTooLarge
from ..scheduler.archiver import ROLE as HISTORY
from ..stores.contract import LONGEST_TERM, Store
from ..stores.remote.calls import CALLS, encode
from .audit import LEFT
from .caller import ANYONE, Caller
from .checked import (
    callbacks,
    check_priority,
    check_schedule,
    check_tallies,
    checked_new_job,
    refuse_unstorable,
)
from .faults import Malformed, NotThere, TooLarge, fault_of
from .site import Site
from .storing import refuse_hidden, refuse_made, refuse_outside, refuse_taken, refuse_unique
from .together import attempts_within, get_within
from .veil import Veil

MOST_LANES: Final = 1_000
"""On one page; a client goes on by the cursor."""

MOST_NAMED: Final = 20
"""So many of the things that a change was about are written into the audit log."""


class Request(NamedTuple):
    """A call that was read: `given` are its arguments by name."""

    site: Site
    caller: Caller
    store: Store
    given: dict[str, Any]


class Procedure(NamedTuple):
    """How a method is offered. Without a role, any key that counts is enough."""

    role: Role | None
    check: Callable[[Request], None] | None = None
    """raises for arguments that the Python API would have refused; may replace some"""
    target: Callable[[Request], Mapping[str, Any]] | None = None
    """what the audit log says that it was about; without it a call is not noted if it is done"""
    act: Callable[[Request], Awaitable[Any]] | None = None
    """does it in another way than by calling the method"""

    @property
    def is_audited(self) -> bool:
        """Whether a refusal is noted in the audit log, whatever it is for."""
        return self.role in (Role.OPERATE, Role.ADMIN)


async def perform(
    site: Site, caller: Caller, name: str, body: bytes, *, address: str = ""
) -> bytes:
    """Carry out one method of the contract for a caller who was let in."""
    procedure = PROCEDURES.get(name)
    if procedure is None:
        raise NotThere(f"This server has no procedure {name!r}: the client is newer, or mistaken.")
    note = partial(site.audit.note, caller, address, name)
    target: Mapping[str, Any] = {}
    try:
        if procedure.role is not None:
            caller.require(procedure.role)
        request = Request(site, caller, site.store_for(caller), _decoded(name, body))
        if procedure.target is not None:
            target = procedure.target(request)
        if procedure.check is not None:
            procedure.check(request)
        answer = await _carried_out(procedure, name, request)
    except BaseException as error:
        if procedure.is_audited or isinstance(error, Forbidden):
            note(target, _reason(error))
        raise
    if procedure.target is not None:
        note(target)
    return encode(answer)


def _reason(error: BaseException) -> str:
    return fault_of(error).sentence if isinstance(error, Exception) else LEFT


def _decoded(name: str, body: bytes) -> dict[str, Any]:
    try:
        arguments = CALLS[name].decode_arguments(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(
            f"The arguments of {name} cannot be read: {str(error).rstrip('.')}."
        ) from None
    refuse_unstorable(arguments)
    return {field: getattr(arguments, field) for field in arguments.__struct_fields__}


async def _carried_out(procedure: Procedure, name: str, request: Request) -> Any:
    if procedure.act is not None:
        return await procedure.act(request)
    return await getattr(request.store, name)(**request.given)


async def _insert(request: Request) -> Sequence[Receipt]:
    site, caller, jobs = request.site, request.caller, request.given["jobs"]
    if len(jobs) > site.settings.max_batch:
        raise TooLarge(
            f"One request may have {site.settings.max_batch:,} jobs, and this has {len(jobs):,}: "
            "send them in several."
        )
    checked = [checked_new_job(job, site.offers) for job in jobs]
    # A worker will store these without asking whose they are.
    to_come = [each for job in jobs for each in callbacks(job, site.app.codecs)]
    for job in to_come:
        refuse_unstorable(job)
        checked_new_job(job, site.offers)
    if to_come:
        refuse_outside(caller, to_come)
        refuse_unique(caller, to_come)
        refuse_made(caller, to_come)
        await refuse_hidden(site.store, caller, [*checked, *to_come])
        await refuse_taken(site.store, caller, to_come)
    site.limits.refuse_other(caller, [*checked, *to_come], made_here=False)
    receipts = await request.store.insert(checked)
    site.app.registry.middleware.told(checked, receipts)
    return receipts


def _check_signal(request: Request) -> None:
    value, most = request.given["value"], request.site.offers.max_payload
    checked_name(request.given["name"], "name of a signal")
    if len(value) > most:
        raise too_large("The signals of a job", value, most)


def _check_finish(request: Request) -> None:
    for each in request.given["transitions"]:
        if each.state not in AFTER_ACTIVE:
            raise InvalidOption(f"No attempt ends in the state {each.state}.")
    # The short cuts are for those who can be trusted to have them from the store.
    request.given["transitions"] = [
        replace(each, queue="", ref=0, error=_clipped(each.error))
        for each in request.given["transitions"]
    ]


def _clipped(error: Failure | None) -> Failure | None:
    """An error no longer than one that a worker of ours would tell of."""
    if error is None:
        return None
    told = failure_from(error.kind, error.message, error.traceback)
    return replace(told, at=error.at, trace=error.trace)


def _check_reports(request: Request) -> None:
    """Cut off what no worker of ours would say: lists of jobs have it in each row."""
    request.given["reports"] = [
        (lease, Progress(said.percent, said.message[:MAX_NOTE]))
        for lease, said in request.given["reports"]
    ]


def _check_schedules(request: Request) -> None:
    veil = Veil(request.site, request.caller)
    for schedule in request.given["schedules"]:
        check_schedule(schedule, request.site.offers)
        veil.refuse(schedule)


async def _get(request: Request) -> Mapping[str, Job]:
    found = await get_within(request.store, request.given["ids"], PayloadTooLarge)
    veil = Veil(request.site, request.caller)
    return {job.id: job for job in veil.jobs([*found.values()])}


async def _attempts(request: Request) -> Mapping[str, Sequence[AttemptRecord]]:
    return await attempts_within(request.store, request.given["ids"], PayloadTooLarge)


def _bound_lanes(request: Request) -> None:
    request.given["limit"] = min(request.given["limit"], MOST_LANES)


async def _find(request: Request) -> Page:
    page = await request.store.find(**request.given)
    return Page(Veil(request.site, request.caller).jobs(page.jobs), page.cursor)


async def _schedules(request: Request) -> Sequence[Schedule]:
    return Veil(request.site, request.caller).schedules(await request.store.schedules())


def _check_queue(request: Request) -> None:
    checked_name(request.given["queue"], "name of a queue")


def _check_priority(request: Request) -> None:
    check_priority(request.given["priority"])


def _check_tallies(request: Request) -> None:
    check_tallies(request.given["tallies"])


def _check_keep(request: Request) -> None:
    if request.given["keep"] > LONGEST_MS:
        raise InvalidOption(f"Attempts are kept for {LONGEST_MS:,} ms at the most.")


async def _elect(request: Request) -> Term | None:
    """None to who has no part in the upkeep: it leaves that to others, as if they led.

    Not an error: a worker asks every few seconds, and one of the version before would tell of it.
    """
    given = request.given
    if request.caller is not ANYONE:
        _check_term(given["role"], given["ttl"])
    # History is read from the journal, for which a key is an admin's.
    needed = Role.UPKEEP if given["role"] == UPKEEP else Role.ADMIN
    if needed not in request.caller.allows:
        return None
    return await request.store.elect(**given)


def _check_term(role: str, ttl: int) -> None:
    roles = (UPKEEP, HISTORY)
    if role not in roles:
        raise InvalidOption(f"A leadership is one of {', '.join(roles)}; got {role!r}.")
    if not 0 < ttl <= LONGEST_TERM:
        raise InvalidOption(f"ttl is a number from 1 to {LONGEST_TERM:,} ms; got {ttl:,}.")


async def _tick(request: Request) -> Receipt | None:
    """See to a tick of a schedule as the store has it, if its timetable says that it is due."""
    tick = request.store.tick
    schedule, moment = request.given["schedule"], request.given["tick"]
    for stored in await request.store.schedules():
        if stored.name == schedule.name and stored.last == schedule.last:
            due = stored.timetable.due(stored.last, await request.store.now(), stored.missed)
            return await tick(stored, moment) if moment in due else None
    return None


async def _wait(request: Request) -> None:
    """As long as the client asks for, the server allows, and it does not begin to stop."""
    site, queues = request.site, request.given["queues"]
    timeout = min(max(request.given["timeout"], 0.0), site.settings.max_wait)
    waiting = asyncio.ensure_future(request.store.wait(queues, timeout))
    stopping = asyncio.ensure_future(site.draining.wait())
    try:
        await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if waiting.done():
            waiting.result()
    finally:
        waiting.cancel()
        stopping.cancel()
        await asyncio.gather(waiting, stopping, return_exceptions=True)


def _named(argument: str, field: str = "") -> Callable[[Request], Mapping[str, Any]]:
    """The target of a procedure: an argument, or one field of each of its values."""

    def target(request: Request) -> Mapping[str, Any]:
        value = request.given[argument]
        if not isinstance(value, Sequence) or isinstance(value, str):
            return {argument: value}
        named = [getattr(each, field) if field else each for each in value[:MOST_NAMED]]
        return {argument: named, "number": len(value)}

    return target


def _nothing(request: Request) -> Mapping[str, Any]:
    return {}


_IDS: Final = _named("ids")
_QUEUE: Final = Procedure(Role.OPERATE, _check_queue, _named("queue"))
_READ: Final = Procedure(Role.READ)
_WORK: Final = Procedure(Role.WORK)
_UPKEEP: Final = Procedure(Role.UPKEEP)

PROCEDURES: Final[Mapping[str, Procedure]] = {
    "ping": Procedure(None),
    "now": Procedure(None),
    "insert": Procedure(Role.ENQUEUE, act=_insert),
    "signal": Procedure(Role.ENQUEUE, _check_signal),
    "get": Procedure(Role.READ, act=_get),
    "find": Procedure(Role.READ, act=_find),
    "queues": _READ,
    "oldest": _READ,
    "lanes": Procedure(Role.READ, _bound_lanes),
    "risks": _READ,
    "workers": _READ,
    "leaders": _READ,
    "schedules": Procedure(Role.READ, act=_schedules),
    "attempts": Procedure(Role.READ, act=_attempts),
    "stats": _READ,
    "claim": _WORK,
    "renew": _WORK,
    "finish": Procedure(Role.WORK, _check_finish),
    "report": Procedure(Role.WORK, _check_reports),
    "checkpoint": _WORK,
    "wait": Procedure(Role.WORK, act=_wait),
    "beat": _WORK,
    "leave": _WORK,
    "note_attempts": Procedure(Role.WORK, _check_keep),
    "tally": Procedure(Role.WORK, _check_tallies),
    "abandon": _WORK,
    "elect": Procedure(Role.WORK, act=_elect),
    "resign": _UPKEEP,
    "rescue": _UPKEEP,
    "unblock": _UPKEEP,
    "prune": _UPKEEP,
    "tick": Procedure(Role.UPKEEP, act=_tick),
    "cancel": Procedure(Role.OPERATE, target=_IDS),
    "replay": Procedure(Role.OPERATE, target=_IDS),
    "delete": Procedure(Role.OPERATE, target=_IDS),
    "reschedule": Procedure(Role.OPERATE, target=_IDS),
    "prioritize": Procedure(Role.OPERATE, _check_priority, _IDS),
    "direct": Procedure(Role.OPERATE, target=_named("workers")),
    "pause": _QUEUE,
    "resume": _QUEUE,
    "put_schedules": Procedure(Role.OPERATE, _check_schedules, _named("schedules", "name")),
    "pause_schedules": Procedure(Role.OPERATE, target=_named("names")),
    "drop_schedules": Procedure(Role.OPERATE, target=_named("names")),
    "keys": Procedure(Role.ADMIN, target=_nothing),
    "put_keys": Procedure(Role.ADMIN, target=_named("keys", "id")),
    "drop_keys": Procedure(Role.ADMIN, target=_IDS),
    "had_keys": Procedure(Role.ADMIN),
    "end_logins": Procedure(Role.ADMIN, target=_nothing),
    "ended_logins": Procedure(Role.ADMIN),
    "migrate": Procedure(Role.ADMIN, target=_nothing),
    "keep_journal": Procedure(Role.ADMIN, target=_named("on")),
    "read_journal": Procedure(Role.ADMIN),
    "trim_journal": Procedure(Role.ADMIN),
    "restore": Procedure(Role.ADMIN, target=_named("jobs", "id")),
}
