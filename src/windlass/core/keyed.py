"""What the arguments of a job decide besides its work: its unique key, its lane, its group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from ..errors import InvalidOption
from .arguments import Arguments
from .fingerprint import fingerprint
from .lane import Lane
from .model import NewJob
from .name import Key, checked_text
from .options import Options
from .unique import checked_key

SEQUENCE: Final = "sequence"
LIMIT: Final = "limit"
BATCH: Final = "batch"
"""How the name of a lane begins, so that lanes of two kinds never are one."""


class Caller(NamedTuple):
    """The arguments of one job, for the functions that make keys of them."""

    arguments: Arguments
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    def text(self, key: Key, what: str) -> str:
        """The key, or what the function makes of the arguments."""
        return key if isinstance(key, str) else checked_text(key(*self.args, **self.kwargs), what)


NOBODY: Final = Caller(Arguments.of(lambda: None), (), {})
"""For options without functions."""


def keyed(job: NewJob, options: Options, caller: Caller = NOBODY) -> NewJob:
    """The job with everything that is computed from its arguments, and with its lane."""
    task, group = job.spec.task, options.group
    named = "" if group is None else caller.text(group, "group")
    spec = replace(job.spec, lane=_lane(task, options, caller), group=named)
    return replace(job, unique=_unique(task, options, caller), spec=spec)


def _unique(task: str, options: Options, caller: Caller) -> str | None:
    unique = options.unique
    if unique is None or isinstance(unique, str):
        return unique
    if unique is True:
        return fingerprint(task, caller.arguments.bound(caller.args, caller.kwargs))
    return checked_key(unique(*caller.args, **caller.kwargs))


def _lane(task: str, options: Options, caller: Caller) -> Lane | None:
    if options.sequence is not None:
        return Lane(f"{SEQUENCE}:{caller.text(options.sequence, 'sequence')}", slots=1, strict=True)
    if options.batch is not None:
        return options.batch.lane(_divided(f"{BATCH}:{task}", options.batch.key, caller))
    limit = options.limit
    if limit is None:
        return None
    return limit.lane(_divided(f"{LIMIT}:{limit.name or task}", limit.key, caller))


def _divided(name: str, key: Key | None, caller: Caller) -> str:
    return name if key is None else f"{name}:{caller.text(key, 'key')}"


def refuse_functions(options: Options, why: str) -> None:
    """Raise for options that would have to look at arguments that are not there."""
    limit_key = None if options.limit is None else options.limit.key
    batch_key = None if options.batch is None else options.batch.key
    made = {
        "unique": options.unique,
        "sequence": options.sequence,
        "the key of limit": limit_key,
        "the key of batch": batch_key,
        "group": options.group,
    }
    for what, key in made.items():
        if key is not None and not isinstance(key, str):
            raise InvalidOption(f"{what} must be a text here: {why}.")
