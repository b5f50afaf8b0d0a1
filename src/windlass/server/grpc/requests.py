"""Messages of producers as the values that HTTP requests become, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from google.protobuf.internal.containers import ScalarMap

from ...core.clock import LATEST_MS
from ...core.duration import LONGEST_MS
from ...core.states import State
from ...errors import InvalidOption
from ...protocol.windlass_pb2 import Limit, NewJob
from ..offer import JobRequest, LimitRequest

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def job_request(message: NewJob) -> JobRequest:
    """What a message asks for; what it says wrongly is found out with everything else."""
    values: dict[str, Any] = {}
    for field, value in message.ListFields():
        name, read = FIELDS[field.name]
        if name in values:
            raise InvalidOption("Give unique or unique_arguments, not both.")
        values[name] = value if read is None else read(value)
    return JobRequest(**{"task": "", **values})


def states(names: Any) -> tuple[State, ...]:
    """States by their names."""
    try:
        return tuple(map(State, names))
    except ValueError as error:
        raise InvalidOption(f"A state is one of {', '.join(State)}: {error}.") from None


def duration(ms: int, what: str) -> int:
    """A duration in milliseconds that is not used as one in seconds."""
    if not 0 <= ms <= LONGEST_MS:
        raise InvalidOption(f"{what} is a number of milliseconds, 0 or more; got {ms}.")
    return ms


def seconds(ms: int) -> float:
    """A duration as the options of jobs take it."""
    # Seconds are rounded up to milliseconds. Half of one less, so that what a float is too large
    # by never adds one.
    return (ms - 0.5) / 1000 if ms > 0 else ms / 1000


def _seconds_or_none(ms: int) -> float | None:
    return seconds(ms) if ms else None


def _moment(ms: int) -> datetime:
    if not 0 <= ms <= LATEST_MS:
        raise InvalidOption(
            f"A moment is a number of milliseconds since 1970, until the year 9998; got {ms}."
        )
    moment = _EPOCH + timedelta(milliseconds=ms)
    return moment - timedelta(microseconds=500) if ms else moment


def _moment_or_none(ms: int) -> datetime | None:
    return _moment(ms) if ms else None


def _text_or_none(text: str) -> str | None:
    return text or None


def _mapping(value: ScalarMap[str, str]) -> dict[str, str]:
    return dict(value)


def _limit(message: Limit) -> LimitRequest | None:
    values = {field.name: value for field, value in message.ListFields()}
    return LimitRequest(**values) if values else None


Read = Callable[[Any], Any]

FIELDS: Final[Mapping[str, tuple[str, Read | None]]] = {
    "task": ("task", None),
    "payload": ("payload", None),
    "content_type": ("content_type", None),
    "id": ("id", None),
    "queue": ("queue", None),
    "priority": ("priority", None),
    "max_retries": ("max_retries", None),
    "timeout_ms": ("timeout", _seconds_or_none),
    "keep_ms": ("keep", seconds),
    "delay_ms": ("delay", seconds),
    "due_ms": ("at", _moment),
    "labels": ("labels", _mapping),
    "headers": ("headers", _mapping),
    "unique": ("unique", _text_or_none),
    "unique_arguments": ("unique", None),
    "unique_until": ("unique_for", None),
    "unique_for_ms": ("unique_for", seconds),
    "on_conflict": ("on_conflict", None),
    "depends_on": ("depends_on", list),
    "orphaned": ("orphaned", None),
    "expires_in_ms": ("expires_in", _seconds_or_none),
    "expires_at_ms": ("expires_at", _moment_or_none),
    "limit": ("limit", _limit),
    "sequence": ("sequence", _text_or_none),
    "group": ("group", _text_or_none),
    "weight": ("weight", None),
}
"""For each field of a NewJob, the option that it is and how it is read."""
