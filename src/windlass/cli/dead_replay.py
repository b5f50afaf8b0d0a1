"""Replaying one dead job with other arguments or options."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..app import Windlass
from .output import print_json
from .text import one_line
from .values import duration, priority

F = TypeVar("F", bound=Callable[..., Any])


def edit_options(command: F) -> F:
    """What can be different this time; the queue is an option of its own."""
    for option in (
        click.option("--timeout", type=duration, metavar="DURATION", help="of one run"),
        click.option("--max-retries", type=click.IntRange(min=0), help="runs after the first"),
        click.option("--priority", type=priority, help="0 to 100, or low, default, high"),
        click.option("--kwargs", type=_object, metavar="JSON", help="other arguments by name"),
        click.option("--args", type=_array, metavar="JSON", help="other arguments, as an array"),
    ):
        command = option(command)
    return command


def replay_edited(app: Windlass, id: str, changes: dict[str, Any], as_json: bool) -> None:
    """Replay a job with changes, and tell the id of the one that takes its place."""
    new = app.dead.replay_with(id, **changes)
    if as_json:
        print_json({"count": 1, "ids": [new.id], "refused": {}})
    else:
        click.echo(one_line(f"Replayed it as {new.id}."))


def _array(text: str) -> list[Any]:
    value = _json(text)
    if not isinstance(value, list):
        raise click.BadParameter(f'{text!r} is not an array of JSON, as [42, "ada"] is.')
    return value


def _object(text: str) -> dict[str, Any]:
    value = _json(text)
    if not isinstance(value, dict):
        raise click.BadParameter(f'{text!r} is not an object of JSON, as {{"plus": 1}} is.')
    return value


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"{text!r} is not JSON: {error}.") from None
