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

from ..errors import InvalidOption, shown
from . import habits
from .batch import Batch
from .clock import moment_ms
from .dependents import Orphaned, checked_orphaned
from .duration import duration_ms, limit_ms
from .ids import checked_id, new_id
from .limit import Limit, checked_limit
from .model import (
    DAY_MS,
    DEFAULT_MAX_RETRIES,
    DEFAULT_PRIORITY,
    DEFAULT_QUEUE,
    NewJob,
    Spec,
)
from .name import Key, checked_key, checked_queue
from .notes import checked_texts
from .unique import (
    RAISE,
    UNTIL_FINISHED,
    OnConflict,
    Unique,
    UniqueFor,
    checked_conflict,
    checked_unique,
    checked_unique_for,
)

MAX_WEIGHT: Final = 1_000
PRIORITIES: Final = {"low": 25, "default": DEFAULT_PRIORITY, "high": 75}


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
    unique: Unique | None
    unique_for: UniqueFor
    on_conflict: OnConflict
    limit: Limit | None
    sequence: Key | None
    group: Key | None
    weight: int


class JobOptions(TaskOptions, total=False):
    """Options of one job."""

    id: str
    delay: float | timedelta
    at: datetime
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
    labels: dict[str, str] | None = None
    expires_in: int | None = None
    expires_at: int | None = None
    depends_on: tuple[str, ...] = ()
    orphaned: Orphaned = "cancel"
    unique: Unique | None = None
    unique_for: int = UNTIL_FINISHED
    on_conflict: OnConflict = "reject"
    limit: Limit | None = None
    sequence: Key | None = None
    group: Key | None = None
    weight: int = 1
    batch: Batch | None = None
    """of the task alone"""
    keyed: bool = False
    """whether something about a job depends on its arguments, or lies in a lane"""

    def merged(self, given: Mapping[str, Any]) -> Options:
        """These options with `given` ones on top; a wrong or unknown one is `InvalidOption`."""
        changes: dict[str, Any] = {}
        for name, value in given.items():
            if name not in CHECKS:
                raise _unknown(name)
            changes[name] = CHECKS[name](value)
        if given.keys() >= {"delay", "at"}:
            raise InvalidOption("Give delay or at, not both.")
        if "delay" in given:
            changes["at"] = None
        elif "at" in given:
            changes["delay"] = 0
        if "unique" in given and given["unique"] is None:
            # Taken off, with what hung on it, unless that is given here as well.
            changes = {"unique_for": UNTIL_FINISHED, "on_conflict": "reject"} | changes
        if "group" in given and given["group"] is None:
            changes = {"weight": 1} | changes
        if self.batch is not None and (given.get("limit") or given.get("sequence")):
            raise InvalidOption("A task that takes batches cannot have a limit or a sequence.")
        if given.get("limit") is not None and given.get("sequence") is not None:
            raise InvalidOption("Give limit or sequence, not both.")
        for name, other in (("limit", "sequence"), ("sequence", "limit")):
            if given.get(name) is not None:
                changes[other] = None
        made = msgspec.structs.replace(self, **changes)
        made._refuse_contradictions(given)
        return msgspec.structs.replace(made, keyed=made._is_keyed())

    def _is_keyed(self) -> bool:
        return (
            self.limit is not None
            or self.batch is not None
            or self.sequence is not None
            or not isinstance(self.unique, str | None)
            or not isinstance(self.group, str | None)
        )

    def _refuse_contradictions(self, given: Mapping[str, Any]) -> None:
        if self.id is not None and self.id in self.depends_on:
            raise InvalidOption(f"Job {self.id} cannot depend on itself.")
        for name, about in ABOUT.items():
            # An id can be one that was there before as well.
            if name == "on_conflict" and self.on_conflict == RAISE:
                continue
            if name in given and getattr(self, about) is None:
                raise InvalidOption(f"{name} says something about {about}, which is not given.")
        if self.on_conflict not in ("reject", RAISE) and self.depends_on:
            raise InvalidOption(
                f"A job with on_conflict={self.on_conflict!r} cannot have depends_on: it may take "
                "the place of another, which waits for its own."
            )

    def new_job(self, task: str, payload: bytes, content_type: str) -> NewJob:
        """The job, but for what is `keyed`."""
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
            unique_for=self.unique_for,
            group="" if self.keyed or self.group is None else self.group,  # type: ignore[arg-type]
            weight=self.weight,
        )
        return NewJob(
            self.id or new_id(),
            spec,
            self.queue,
            self.priority,
            self.delay,
            self.at,
            None if self.keyed else self.unique,  # type: ignore[arg-type]
            "reject" if self.on_conflict == RAISE else self.on_conflict,
            fresh=self.id is None,
        )


def _unknown(name: str) -> InvalidOption:
    near = habits.OPTIONS.get(name) or next(iter(get_close_matches(name, CHECKS, 1)), None)
    hint = f"did you mean {near}?" if near else f"known are {', '.join(CHECKS)}."
    return InvalidOption(f"Unknown option {name}: {hint}")


def _priority(value: int | str) -> int:
    number = PRIORITIES.get(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= 100:
        raise InvalidOption(
            "priority is a whole number from 0 to 100, or low, default or high; "
            f"got {shown(value)}."
        )
    return number


def _weight(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_WEIGHT:
        raise InvalidOption(
            f"weight is a whole number from 1 to {MAX_WEIGHT:,}; got {shown(value)}."
        )
    return value


def _max_retries(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise InvalidOption(f"max_retries is a whole number, 0 or more; got {shown(value)}.")
    return value


def _moment(value: datetime, what: str) -> int:
    if not isinstance(value, datetime):
        raise InvalidOption(f"{what} takes a datetime with a time zone.")
    return moment_ms(value, what)


def id_of(value: JobLike) -> str:
    """The id of a job that is given as such, by its handle, or by its id."""
    id = value if isinstance(value, str) else getattr(value, "id", None)
    if not isinstance(id, str):
        raise InvalidOption(f"A job is given by its handle or its id; got {shown(value)}.")
    return checked_id(id)


def ids_of(value: JobLike | Iterable[JobLike]) -> tuple[str, ...]:
    """The ids of one job or of several, each once."""
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    given: Any = value if several else (value,)
    return tuple(dict.fromkeys(map(id_of, given)))


CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "queue": checked_queue,
    "priority": _priority,
    "max_retries": _max_retries,
    "timeout": lambda value: limit_ms(value, "timeout"),
    "keep": lambda value: duration_ms(value, "keep"),
    "id": checked_id,
    "delay": lambda value: duration_ms(value, "delay"),
    "at": lambda value: _moment(value, "at"),
    "labels": lambda value: checked_texts(value, "labels") or None,
    "expires_in": lambda value: limit_ms(value, "expires_in"),
    "expires_at": lambda value: None if value is None else _moment(value, "expires_at"),
    "depends_on": ids_of,
    "orphaned": checked_orphaned,
    "unique": checked_unique,
    "unique_for": checked_unique_for,
    "on_conflict": checked_conflict,
    "limit": checked_limit,
    "sequence": lambda value: checked_key(value, "sequence"),
    "group": lambda value: checked_key(value, "group"),
    "weight": _weight,
}

ABOUT: Final = {"unique_for": "unique", "on_conflict": "unique", "weight": "group"}
"""Options that say something about another one, and mean nothing without it."""
