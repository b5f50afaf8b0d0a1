"""Values that came from outside as bytes, held to what the Python API would have refused.

Stores take what they are given: whoever calls one in the same process has checked it before. Here
nobody has. What passes can be stored by every engine and shown by every command.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from math import isfinite
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from ..core.codec import Codecs, decode_call, too_large
from ..core.duration import LONGEST_MS
from ..core.ids import checked_id
from ..core.lane import Lane
from ..core.limit import MOST as MOST_STARTS
from ..core.model import NEVER, NewJob, Spec
from ..core.name import checked_name, checked_text
from ..core.notes import MOST_BYTES, OWN_BYTES, check_notes
from ..core.options import CHECKS
from ..core.result import JUDGE
from ..core.schedule import Schedule, schedule_of
from ..core.stats import Tally
from ..core.unique import UNTIL_STARTED, WITHIN, checked_key
from ..errors import CorruptRecord, InvalidOption
from ..workflows.outline import KEYS, OWN_TASKS, unpack
from .offer import Offers

LARGEST: Final = 2**53
"""Beyond this, Lua and JavaScript count wrong."""

BOUNDS: Final = {
    "delay": LONGEST_MS,
    "expires_in": LONGEST_MS,
    "timeout": LONGEST_MS,
    "unique_for": LONGEST_MS,
    "due": NEVER,
    "expires_at": NEVER,
}
"""Times that are added to others, or shown as a date: the most that each may be."""

LEAST: Final = {"unique_for": UNTIL_STARTED, "fence": -LARGEST}

LONGEST_TEXT: Final = 512
LONG: Final = frozenset({"message", "traceback", "cursor", "key"})
"""Texts that no engine has in a column of its own."""

OPAQUE: Final = frozenset({"labels", "headers", "lines"})
"""What is stored as a part of a record, whatever it is."""

MOST_COUNTS: Final = 100
LONGEST_COUNT: Final = 64
"""How many counts a worker may tell of a queue at once, and how long their names are."""

SERVED_TASKS: Final = OWN_TASKS - {KEYS}
"""Those of Windlass itself that a server can run, which has the functions of no app."""

MOST_MEMBERS: Final = 1_000_000
"""Jobs of a workflow, when it is stored."""


def refuse_unstorable(value: Any, name: str = "") -> None:
    """Raise for a number or a text somewhere in a value that some engine could not hold."""
    kind = type(value)
    if kind is str:
        if "\0" in value or (len(value) > LONGEST_TEXT and name not in LONG):
            raise InvalidOption(
                f"{name} is a text of at most {LONGEST_TEXT} characters, none of them a zero byte."
            )
    elif kind is int:
        least, most = LEAST.get(name, 0), BOUNDS.get(name, LARGEST)
        if not least <= value <= most:
            raise InvalidOption(
                f"{name} is a whole number from {least:,} to {most:,}; got {value:,}."
            )
    elif kind is float:
        if not isfinite(value):
            raise InvalidOption(f"{name} is a finite number; got {value}.")
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            if field not in OPAQUE:
                refuse_unstorable(getattr(value, field), field)
    elif kind in (list, tuple, frozenset):
        for each in value:
            refuse_unstorable(each, name)
    elif kind is dict:
        for key, each in value.items():
            refuse_unstorable(key, name)
            refuse_unstorable(each, name)


def checked_new_job(job: NewJob, offers: Offers) -> NewJob:
    """The job as it may be stored. Its id counts as given, for who knows where it came from."""
    checked_id(job.id)
    CHECKS["queue"](job.queue)
    CHECKS["priority"](job.priority)
    if job.unique:
        # One that comes back from the store may count within its queue alone.
        checked_key(job.unique.removeprefix(f"{job.queue}{WITHIN}"))
    check_spec(job.spec, offers)
    if job.spec.task == JUDGE and job.spec.workflow != job.id:
        raise InvalidOption(f"The job {job.id} stands for a workflow of another id.")
    return replace(job, fresh=False)


def check_spec(spec: Spec, offers: Offers) -> None:
    """Raise for what a job cannot be to do."""
    checked_name(spec.task, "name of a task")
    checked_name(spec.content_type, "content type")
    if spec.task not in OWN_TASKS:
        offers.refuse_unknown(spec.task)
    if spec.task != KEYS:  # which has no arguments
        offers.refuse_unencrypted(spec.content_type)
    if len(spec.payload) > offers.max_payload:
        raise too_large(f"The arguments of {spec.task}", spec.payload, offers.max_payload)
    check_notes(spec, MOST_BYTES + OWN_BYTES)
    CHECKS["max_retries"](spec.max_retries)
    CHECKS["weight"](spec.weight)
    if spec.group:
        checked_text(spec.group, "group")
    for parent in spec.parents:
        checked_id(parent)
    if spec.inputs > len(spec.parents):
        raise InvalidOption(f"A job of {spec.task} has more inputs than parents.")
    if spec.lane is not None:
        _check_lane(spec.lane)


def _check_lane(lane: Lane) -> None:
    counts = (lane.slots, lane.starts, lane.burst, lane.size)
    if max(counts) > MOST_STARTS or max(lane.per, lane.grace, lane.longest) > LONGEST_MS:
        raise InvalidOption(f"A number of the lane {lane.name!r} is too large.")
    if lane.starts and not lane.per:
        raise InvalidOption(f"The lane {lane.name!r} has starts without a time for them.")


def callbacks(job: NewJob, codecs: Codecs) -> Sequence[NewJob]:
    """The jobs that a worker will store when the workflow that a job stands for has ended.

    Whoever may not store such a job must not have it stored by a workflow either.
    """
    spec = job.spec
    if spec.task != JUDGE:
        return ()
    try:
        codec = codecs.get(spec.content_type)
        args, kwargs = decode_call(codec, spec.payload, job.id, spec.task)
        if kwargs or len(args) != 3:
            raise ValueError
        if type(args[0]) is not int or not 0 <= args[0] <= MOST_MEMBERS:
            raise ValueError
        # JSON writes bytes as base64.
        packed = [b64decode(each) if isinstance(each, str) else each for each in args[1:]]
        made = [unpack(each) for each in packed if each is not None]
    except (CorruptRecord, ValueError, TypeError, msgspec.DecodeError):
        raise InvalidOption(
            "The workflow cannot be read by the server: its payload is msgpack or json, or in a "
            "codec of the server's app."
        ) from None
    if any(job.spec.task in OWN_TASKS for job in made):
        raise InvalidOption("A workflow cannot be the callback of another one.")
    if any(job.fresh for job in made):
        # Its id would be looked for nowhere, and be given twice.
        raise InvalidOption("The id of a callback comes of that of its workflow.")
    return made


def check_priority(priority: int) -> None:
    """Raise for a priority that no job can have."""
    CHECKS["priority"](priority)


def check_tallies(tallies: Sequence[Tally]) -> None:
    """Raise for counts that nobody could have made."""
    for tally in tallies:
        if tally.queue:
            CHECKS["queue"](tally.queue)
        if (
            len(tally.counts) > MOST_COUNTS
            or max(map(len, tally.counts), default=0) > LONGEST_COUNT
        ):
            raise InvalidOption(
                f"A tally has at most {MOST_COUNTS} counts, with names of at most "
                f"{LONGEST_COUNT} characters."
            )


def check_schedule(schedule: Schedule, offers: Offers) -> None:
    """Raise for a schedule that no ticker could follow."""
    spec = schedule.spec
    if spec.task in OWN_TASKS:
        raise InvalidOption(f"A schedule cannot have jobs of {spec.task}.")
    check_spec(spec, offers)
    CHECKS["queue"](schedule.queue)
    CHECKS["priority"](schedule.priority)
    job = NewJob("", spec, fresh=True)
    schedule_of(schedule.name, schedule.text, job, schedule.zone)
