"""What the arguments of a job decide besides its work: its unique key, its lane, its group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from ..errors import InvalidOption
from .arguments import Arguments
from .fingerprint import fingerprint
from .lane import Lane
from .model import NewJob, Spec
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


def computed(options: Options) -> tuple[str, ...]:
    """The options besides `unique` for which a function looks at the arguments."""
    keys = {
        "limit": None if options.limit is None else options.limit.key,
        "batch": None if options.batch is None else options.batch.key,
        "sequence": options.sequence,
        "group": options.group,
    }
    return tuple(name for name, key in keys.items() if callable(key))


def without(options: Options, names: Sequence[str]) -> Options:
    """The options without these, whatever they hang on."""
    return replace(options, **dict.fromkeys(names)) if names else options


def keyed_late(spec: Spec, options: Options, names: Sequence[str], caller: Caller) -> Spec:
    """The spec with these options, computed of the arguments."""
    chosen = {name: getattr(options, name) for name in names}
    job = keyed(NewJob("", spec), Options(**chosen), caller)
    group = job.spec.group if "group" in names else spec.group
    return replace(spec, lane=job.spec.lane or spec.lane, group=group)


def refuse_functions(options: Options, why: str) -> None:
    """Raise for options that would have to look at arguments that are not there."""
    names = [{"limit": "the key of limit", "batch": "the key of batch"}.get(name, name)
             for name in computed(options)]  # fmt: skip
    if options.unique is not None and not isinstance(options.unique, str):
        names.insert(0, "unique")
    if names:
        raise InvalidOption(f"{names[0]} must be a text here: {why}.")
