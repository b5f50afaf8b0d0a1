"""Which jobs: what a store can look for, and what else of each of them has to hold.

The same for Python, for commands and for the HTTP API.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final, TypedDict

import msgspec

from ..core.clock import moment_ms
from ..core.likeness import error_fingerprint
from ..core.model import Job, JobQuery
from ..core.name import checked_name
from ..core.notes import checked_texts
from ..core.states import FINISHED, State
from ..errors import InvalidOption, shown
from .eyes import Eyes, Named

Test = Callable[[Job], bool]
NESTED: Final = (list, tuple, set, frozenset)


class JobFilter(TypedDict, total=False):
    """Which jobs: all of this has to hold."""

    states: State | str | Iterable[State | str]
    queue: str
    task: str
    worker: str
    """the one that has it, or had it last"""
    labels: Mapping[str, str]
    since: datetime
    """ended then or later; created, if it has not ended"""
    until: datetime
    """ended before; created, if it has not ended"""
    argument: str | Iterable[str]
    """each as name=value, or a value of any argument"""
    error: str
    """a part of the error's type or text"""
    fingerprint: str
    """of the error"""


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs, checked; moments are milliseconds. No states are all states."""

    states: tuple[State, ...] = ()
    queue: str | None = None
    task: str | None = None
    worker: str | None = None
    labels: tuple[tuple[str, str], ...] = ()
    since: int | None = None
    until: int | None = None
    arguments: tuple[str, ...] = ()
    error: str | None = None
    fingerprint: str | None = None

    @property
    def narrowed(self) -> bool:
        """Whether more is asked than of which states and which queue."""
        rest = msgspec.structs.replace(self, states=(), queue=None)
        return rest != EVERYTHING

    def query(self, limit: int = 100, cursor: str | None = None) -> JobQuery:
        """What a store can look for."""
        return JobQuery(
            states=self.states, queue=self.queue, task=self.task, limit=limit, cursor=cursor
        )


EVERYTHING: Final = Selection()


class Sieve:
    """Holds jobs against what the query itself cannot ask for.

    `is_open` says that it lets all of them pass. Without `eyes` no arguments are looked at.
    """

    def __init__(self, selection: Selection, eyes: Eyes | None = None) -> None:
        self._eyes = eyes
        self._tests = list(self._made(selection))
        self._since = selection.since

    @property
    def is_open(self) -> bool:
        return not self._tests

    def passes(self, job: Job) -> bool:
        return all(test(job) for test in self._tests)

    def ends(self, states: tuple[State, ...], job: Job) -> bool:
        """Whether nothing that comes behind this job can pass: the newest come first, one state."""
        if self._since is None or len(states) != 1 or states[0] not in FINISHED:
            return False
        return job.finished_at is not None and job.finished_at < self._since

    def _made(self, asked: Selection) -> Iterator[Test]:
        """The cheapest ones first."""
        if (worker := asked.worker) is not None:
            yield lambda job: job.worker == worker
        if asked.since is not None:
            yield _since(asked.since)
        if asked.until is not None:
            yield _until(asked.until)
        for name, value in asked.labels:
            yield _label(name, value)
        if asked.error is not None:
            yield _error(asked.error.casefold())
        if (alike := asked.fingerprint) is not None:
            yield (
                lambda job: (
                    job.error is not None and error_fingerprint(job.task, job.error) == alike
                )
            )
        for text in asked.arguments:
            assert self._eyes is not None
            yield _argument(text, self._eyes)


def selection_of(given: JobFilter) -> Selection:
    """What a caller has asked for; a wrong or unknown filter is `InvalidOption`."""
    chosen: dict[str, Any] = {}
    for name, value in given.items():
        if name not in _CHECKS:
            near = _SYNONYMS.get(name) or next(iter(get_close_matches(name, _CHECKS, 1)), None)
            hint = f"did you mean {near}?" if near else f"known are {', '.join(_CHECKS)}."
            raise InvalidOption(f"Unknown filter {name}: {hint}")
        chosen[_FIELDS.get(name, name)] = _CHECKS[name](value)
    return Selection(**chosen)


def states_of(value: Any) -> tuple[State, ...]:
    """The states that somebody names; a wrong one is `InvalidOption` with the one that is near."""
    several = (value,) if isinstance(value, str) else value
    if not isinstance(several, Iterable):
        raise InvalidOption(f"states are names of states; got {shown(value)}.")
    return tuple(dict.fromkeys(_state(each) for each in several))


def _state(name: Any) -> State:
    known = [state.value for state in State]
    if name in known:
        return State(name)
    near = get_close_matches(str(name), known, 1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
    raise InvalidOption(f"There is no state {name}: {hint}")


def pair_in(text: str) -> tuple[str, str]:
    """A label as it is written in a query."""
    name, separator, value = text.partition("=")
    if not separator:
        raise InvalidOption(f"A label is given as name=value; got {text!r}.")
    return name, value


def _texts(value: Any) -> tuple[str, ...]:
    is_several = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    return tuple(_text(each, "argument") for each in (value if is_several else (value,)))


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise InvalidOption(f"{what} is a text; got {shown(value)}.")
    return value


def _moment(value: Any, what: str) -> int:
    if not isinstance(value, datetime):
        raise InvalidOption(f"{what} is a datetime with a time zone; got {shown(value)}.")
    return moment_ms(value, what)


_CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "states": states_of,
    "queue": lambda value: checked_name(value, "name of a queue"),
    "task": lambda value: checked_name(value, "name of a task"),
    "worker": lambda value: checked_name(value, "id of a worker"),
    "labels": lambda value: tuple(checked_texts(value, "labels").items()),
    "since": lambda value: _moment(value, "since"),
    "until": lambda value: _moment(value, "until"),
    "argument": _texts,
    "error": lambda value: _text(value, "error"),
    "fingerprint": lambda value: _text(value, "fingerprint"),
}
_FIELDS: Final = {"argument": "arguments"}
_SYNONYMS: Final = {"state": "states", "label": "labels", "older_than": "until", "name": "task"}


def _when(job: Job) -> int:
    return job.created_at if job.finished_at is None else job.finished_at


def _since(moment: int) -> Test:
    return lambda job: _when(job) >= moment


def _until(moment: int) -> Test:
    return lambda job: _when(job) < moment


def _label(name: str, value: str) -> Test:
    return lambda job: (job.spec.labels or {}).get(name) == value


def _error(part: str) -> Test:
    return lambda job: job.error is not None and part in str(job.error).casefold()


def _argument(text: str, eyes: Eyes) -> Test:
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        return lambda job: any(_has(each.value, text) for each in eyes.seen(job))
    if name in eyes.hidden:
        raise InvalidOption(f"The argument {name} is not shown here, nor can it be looked for.")

    def named(each: Named) -> bool:
        return each.name == name and _has(each.value, value)

    return lambda job: any(map(named, eyes.seen(job)))


def _has(value: Any, text: str) -> bool:
    """Whether a text has this in it, a number or the like is written so, or something within."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, str):
            if text in each:
                return True
        elif isinstance(each, dict):
            left += each.values()
        elif isinstance(each, NESTED):
            left += each
        elif _written(each) == text:
            return True
    return False


def _written(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)
