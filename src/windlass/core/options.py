"""The options of a task and of one job: what users write, checked and turned into values.

Every option is checked where it is written, so that a wrong one fails at the caller, with
a sentence, before anything is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any, Final, Protocol, TypeAlias, TypedDict

import msgspec

from ..errors import InvalidOption, seconds
from .clock import moment_ms, to_ms
from .dependents import Orphaned, checked_orphaned
from .ids import checked_id, new_id
from .model import DAY_MS, DEFAULT_MAX_RETRIES, DEFAULT_PRIORITY, DEFAULT_QUEUE, NewJob, Spec

PRIORITIES: Final = {"low": 25, "default": DEFAULT_PRIORITY, "high": 75}
MAX_NAME_LENGTH: Final = 128
MAX_UNIQUE_LENGTH: Final = 255
LONGEST_MS: Final = 100 * 366 * DAY_MS


class HasId(Protocol):
    """A job, or the handle of one."""

    @property
    def id(self) -> str: ...


JobLike: TypeAlias = HasId | str
"""A job, its handle, or its id."""


class TaskOptions(TypedDict, total=False):
    """Options that a task sets for all its jobs and `using` may change for one."""

    queue: str
    priority: int | str
    max_retries: int
    timeout: float | timedelta | None
    keep: float | timedelta
    expires_in: float | timedelta | None


class JobOptions(TaskOptions, total=False):
    """Options of one job."""

    id: str
    delay: float | timedelta
    at: datetime
    unique: str
    labels: Mapping[str, str]
    expires_at: datetime | None
    depends_on: JobLike | Iterable[JobLike]
    orphaned: Orphaned


class Options(msgspec.Struct, frozen=True):
    """Options that were checked; times in milliseconds."""

    queue: str = DEFAULT_QUEUE
    priority: int = DEFAULT_PRIORITY
    max_retries: int = DEFAULT_MAX_RETRIES
    timeout: int | None = None
    keep: int = DAY_MS
    id: str | None = None
    delay: int = 0
    at: int | None = None
    unique: str | None = None
    labels: dict[str, str] | None = None
    expires_in: int | None = None
    expires_at: int | None = None
    depends_on: tuple[str, ...] = ()
    orphaned: Orphaned = "cancel"

    def merged(self, given: Mapping[str, Any]) -> Options:
        """These options with `given` ones on top; a wrong or unknown one is `InvalidOption`."""
        changes: dict[str, Any] = {}
        for name, value in given.items():
            if name not in CHECKS:
                near = get_close_matches(name, CHECKS, 1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(CHECKS)}."
                raise InvalidOption(f"Unknown option {name}: {hint}")
            changes[name] = CHECKS[name](value)
        if given.keys() >= {"delay", "at"}:
            raise InvalidOption("Give delay or at, not both.")
        if "delay" in given:
            changes["at"] = None
        elif "at" in given:
            changes["delay"] = 0
        made = msgspec.structs.replace(self, **changes)
        if made.id is not None and made.id in made.depends_on:
            raise InvalidOption(f"Job {made.id} cannot depend on itself.")
        return made

    def new_job(self, task: str, payload: bytes, content_type: str) -> NewJob:
        spec = Spec(
            task,
            payload,
            content_type,
            self.max_retries,
            self.timeout,
            self.keep,
            self.labels,
            expires_in=self.expires_in,
            expires_at=self.expires_at,
            parents=self.depends_on,
            runs_anyway=self.orphaned == "run",
        )
        return NewJob(
            self.id or new_id(),
            spec,
            self.queue,
            self.priority,
            self.delay,
            self.at,
            self.unique,
            fresh=self.id is None,
        )


def checked_name(value: str, what: str) -> str:
    """A queue's or a task's name, or `InvalidOption` with the reason why it cannot be one."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME_LENGTH:
        raise InvalidOption(f"The {what} is a text of 1 to {MAX_NAME_LENGTH} characters.")
    if not value.isprintable() or value != value.strip():
        raise InvalidOption(
            f"The {what} has printable characters only and no blanks at its ends; got {value!r}."
        )
    return value


def _priority(value: int | str) -> int:
    number = PRIORITIES.get(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= 100:
        raise InvalidOption(
            f"priority is a whole number from 0 to 100, or low, default or high; got {value!r}."
        )
    return number


def _max_retries(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise InvalidOption(f"max_retries is a whole number, 0 or more; got {value!r}.")
    return value


def _duration(value: float | timedelta, what: str) -> int:
    ms = to_ms(seconds(value, what))
    if ms > LONGEST_MS:
        raise InvalidOption(f"{what} is at most 100 years.")
    return ms


def _limit(value: float | timedelta | None, what: str) -> int | None:
    if value is None:
        return None
    ms = _duration(value, what)
    if ms == 0:
        raise InvalidOption(f"{what} must be above 0, or None for no limit.")
    return ms


def _moment(value: datetime, what: str) -> int:
    if not isinstance(value, datetime):
        raise InvalidOption(f"{what} takes a datetime with a time zone.")
    return moment_ms(value, what)


def _unique(value: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_UNIQUE_LENGTH:
        raise InvalidOption(f"unique is a text of 1 to {MAX_UNIQUE_LENGTH} characters.")
    if not value.isprintable():
        raise InvalidOption("unique has printable characters only.")
    return value


def _labels(value: Mapping[str, str]) -> dict[str, str] | None:
    if not isinstance(value, Mapping) or not all(
        isinstance(text, str) for pair in value.items() for text in pair
    ):
        raise InvalidOption("labels is a mapping of texts to texts.")
    return dict(value) or None


def id_of(value: JobLike) -> str:
    """The id of a job that is given as such, by its handle, or by its id."""
    id = value if isinstance(value, str) else getattr(value, "id", None)
    if not isinstance(id, str):
        raise InvalidOption(f"A job is given by its handle or its id; got {value!r}.")
    return checked_id(id)


def ids_of(value: JobLike | Iterable[JobLike]) -> tuple[str, ...]:
    """The ids of one job or of several, each once."""
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    given: Any = value if several else (value,)
    return tuple(dict.fromkeys(map(id_of, given)))


CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "queue": lambda value: checked_name(value, "name of a queue"),
    "priority": _priority,
    "max_retries": _max_retries,
    "timeout": lambda value: _limit(value, "timeout"),
    "keep": lambda value: _duration(value, "keep"),
    "id": checked_id,
    "delay": lambda value: _duration(value, "delay"),
    "at": lambda value: _moment(value, "at"),
    "unique": _unique,
    "labels": _labels,
    "expires_in": lambda value: _limit(value, "expires_in"),
    "expires_at": lambda value: None if value is None else _moment(value, "expires_at"),
    "depends_on": ids_of,
    "orphaned": checked_orphaned,
}
