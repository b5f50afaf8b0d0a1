"""Replaying a job with other arguments or options: a new job takes its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, Final, TypedDict

from msgspec.structs import replace

from ..core.binding import end_of_id
from ..core.codec import decode_call, encode_call, too_large
from ..core.ids import idempotent_id
from ..core.keyed import Caller, computed, keyed_late
from ..core.model import Job, NewJob, Spec
from ..core.options import Options
from ..core.rebinding import encrypts, renamed
from ..core.states import REPLAYABLE
from ..errors import InvalidOption, WrongState
from ..stores.contract import Store
from ..task import Registry, Wire


class Edit(TypedDict, total=False):
    """What is to be different this time; what is left out stays as it was."""

    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    queue: str
    priority: int | str
    max_retries: int
    timeout: float | timedelta | None


OPTIONS: Final = ("queue", "priority", "max_retries", "timeout")
KNOWN: Final = ("args", "kwargs", *OPTIONS)


def edited(wire: Wire, registry: Registry, old: Job, edit: Edit) -> NewJob:
    """The job that takes the place of an old one; `WrongState` if it cannot be replayed so."""
    given = dict(edit)
    for name in given:
        if name not in KNOWN:
            near = get_close_matches(name, KNOWN, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(KNOWN)}."
            raise InvalidOption(f"A replay cannot change {name}: {hint}")
    options = Options().merged({name: given[name] for name in OPTIONS if name in given})
    if old.state not in REPLAYABLE:
        raise WrongState(f"Job {old.id} cannot be replayed: it is {old.state}.")
    if old.spec.workflow:
        raise WrongState(
            f"Job {old.id} is part of the workflow {old.spec.workflow}, which knows it by its id: "
            "replay it without changes."
        )
    # Of the old one: a crash in between, and another try, leave one new job.
    id = idempotent_id(f"replay {old.fence}", old.id)
    if old.unique is not None and encrypts(wire.codecs, old.spec):
        id += end_of_id(old.unique)
    if "args" in given or "kwargs" in given:
        spec = _with_arguments(wire, registry, old, id, edit.get("args"), edit.get("kwargs"))
    else:
        spec = renamed(wire.codecs, old.spec, old.id, id)
    own = {name: getattr(options, name) for name in ("max_retries", "timeout") if name in given}
    return NewJob(
        id,
        replace(spec, **own),
        options.queue if "queue" in given else old.queue,
        options.priority if "priority" in given else old.priority,
        unique=old.unique,
    )


async def put_in_place(store: Store, wire: Wire, old: Job, new: NewJob) -> str:
    """Store a new job, and delete the one whose place it takes; its id."""
    jobs = wire.middleware.before([new])
    receipts = await store.insert(jobs)
    wire.middleware.after(jobs, receipts)
    if receipts[0].duplicate and not await _is_same(store, jobs[0]):
        raise WrongState(f"Job {old.id} cannot be replayed so: another job has the id {new.id}.")
    if receipts[0].id != jobs[0].id:
        raise WrongState(
            f"Job {old.id} cannot be replayed: another job that is not finished has its unique key "
            f"{old.unique}."
        )
    await store.delete([old.id], REPLAYABLE)
    return jobs[0].id


async def _is_same(store: Store, new: NewJob) -> bool:
    """Whether a job that is there by this id may be of another try, and not somebody else's."""
    found = (await store.get([new.id])).get(new.id)
    return found is None or (found.queue, found.task) == (new.queue, new.spec.task)


def _with_arguments(
    wire: Wire,
    registry: Registry,
    old: Job,
    id: str,
    args: Sequence[Any] | None,
    kwargs: Mapping[str, Any] | None,
) -> Spec:
    """The spec of a new job with other arguments, those that are left out as they were."""
    spec = old.spec
    if spec.inputs:
        raise InvalidOption(
            f"Job {old.id} takes results of other jobs for arguments: replay it without others."
        )
    codec = wire.codecs.get(spec.content_type)
    if args is None or kwargs is None:
        before = decode_call(codec, spec.payload, old.id, spec.task)
        args = before[0] if args is None else args
        kwargs = before[1] if kwargs is None else kwargs
    payload = encode_call(codec, tuple(args), dict(kwargs), id, spec.task)
    if len(payload) > wire.max_payload:
        raise too_large(f"The arguments of {spec.task}", payload, wire.max_payload)
    changed = replace(spec, payload=payload)
    if spec.task not in registry:
        return changed
    definition = registry[spec.task]
    definition.arguments.check(args, kwargs)
    # As the worker will: on what the codec gives back.
    values, named = decode_call(codec, payload, id, spec.task)
    definition.arguments.convert(values, named, binary=codec.binary)
    caller = Caller(definition.arguments, values, named)
    names = computed(definition.options)
    return keyed_late(changed, definition.options, names, caller) if names else changed
