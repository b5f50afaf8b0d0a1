"""Words of a command line as the arguments and options of a job.

A word is JSON, or else text. Which one was meant is only known with the signature of the
task: for a parameter that is annotated with `str`, the word 42 is the text "42".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, NoReturn

import click

from ..core.arguments import Arguments
from ..core.ids import checked_id
from ..core.name import checked_name
from ..errors import InvalidArguments, InvalidOption

_UNITS: Final = {"s": 1, "min": 60, "h": 3_600, "d": 86_400}
_DURATION: Final = re.compile(rf"(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS)})")


class Given(NamedTuple):
    """An argument as it was understood, and as it was written if it was a word by itself."""

    value: Any
    text: str | None = None


def understood(text: str) -> Given:
    """A word as JSON, or else as the text that it is."""
    try:
        return Given(json.loads(text, parse_constant=_no_constant), text)
    except (ValueError, RecursionError):
        return Given(text, text)


def keyword(text: str) -> tuple[str, Given]:
    """`name=value` as the two."""
    name, separator, value = text.partition("=")
    if not (name and separator):
        raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE.")
    return name, understood(value)


def moment(text: str) -> datetime:
    """A moment in ISO-8601 with its time zone: a worker may live in another one."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a moment as 2030-01-31T09:00Z is.") from None
    if found.tzinfo is None:
        raise click.BadParameter(f"{text!r} has no time zone; add Z or +01:00 to it.")
    return found


def name(text: str) -> str:
    """The name of a queue or a task."""
    try:
        return checked_name(text, "name")
    except InvalidOption as error:
        raise click.BadParameter(str(error)) from None


def job_id(text: str) -> str:
    """The id of a job."""
    try:
        return checked_id(text)
    except InvalidOption as error:
        raise click.BadParameter(str(error)) from None


def duration(text: str) -> float:
    """`90`, `90s`, `5min`, `12h` or `7d` as seconds; how long one may be is for others to say."""
    try:
        return float(text)
    except ValueError:
        match = _DURATION.fullmatch(text)
    if match is None:
        raise click.BadParameter(f"{text!r} is not a duration as 90, 90s, 5min, 12h or 7d are.")
    return float(match[1]) * _UNITS[match[2]]


def window(text: str) -> float | str:
    """A duration or a word; which words there are is for the job's options to say."""
    return text if text.isalpha() else duration(text)


def past(text: str) -> datetime:
    """A moment, or a duration as so long ago."""
    # What is no duration, or one longer than the calendar, is read as a moment, which then says it.
    with suppress(click.BadParameter, OverflowError):
        return datetime.now(UTC) - timedelta(seconds=duration(text))
    return moment(text)


def label(text: str) -> tuple[str, str]:
    """`name=value` as the two, both of them texts."""
    name, separator, value = text.partition("=")
    if not separator:
        raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE.")
    return name, value


def priority(text: str) -> int | str:
    """A number or a word; which ones there are is for the job's options to say."""
    try:
        return int(text)
    except ValueError:
        return text


def fitted(
    arguments: Arguments, args: Sequence[Given], kwargs: Mapping[str, Given]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments as the types that the signature asks for, or `InvalidArguments`."""
    arguments.check(args, kwargs)
    values: list[Any] = []
    for given in args:
        values.append(_chosen(arguments, given, values))
    named = {name: _chosen(arguments, given, name=name) for name, given in kwargs.items()}
    return arguments.convert(values, named)


def _chosen(
    arguments: Arguments, given: Given, before: Sequence[Any] = (), name: str | None = None
) -> Any:
    """The value if it fits its parameter, else the word as it was written if that does."""

    def fit(value: Any) -> Any:
        if name is None:
            arguments.convert([*before, value], {})
        else:
            arguments.convert([], {name: value})
        return value

    try:
        return fit(given.value)
    except InvalidArguments:
        if given.text is None or given.text == given.value:
            raise
        with suppress(InvalidArguments):  # the first refusal is the one to tell
            return fit(given.text)
        raise


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
