"""`windlass enqueue`: a job from the shell."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

import click

from ..app import Windlass
from ..core.options import JobOptions, Options
from ..definition import elsewhere
from ..task import Task
from .output import print_json
from .refusal import Refusal
from .target import AppName, app_option, json_option, opened, url_option
from .values import Given, duration, fitted, keyword, moment, priority, understood, window

SHOWN: Final = 20
"""So many tasks are named to somebody who has mistyped one."""


@click.command()
@click.argument("task")
@click.argument("args", nargs=-1, type=understood)
@click.option(
    "-k",
    "keywords",
    multiple=True,
    type=keyword,
    metavar="NAME=VALUE",
    help="an argument by name; can be given again",
)
@click.option("--kwargs", type=understood, metavar="JSON", help="arguments by name, as an object")
@click.option("-q", "--queue", help="the queue to put it in")
@click.option("--priority", type=priority, metavar="N", help="0 to 100, or low, default, high")
@click.option(
    "--delay", type=duration, metavar="DURATION", help="the time to wait, as in 90, 5min or 2h"
)
@click.option(
    "--at", type=moment, metavar="MOMENT", help="the moment to run it, as in 2030-01-31T09:00Z"
)
@click.option("--unique", help="not while another job has this key, until that is finished")
@click.option(
    "--unique-for",
    type=window,
    metavar="DURATION",
    help="how long it holds the key: finished, started, or a time as 5min",
)
@click.option(
    "--on-conflict", metavar="WORD", help="if another has the key: reject, replace, last or raise"
)
@click.option("--id", help="the job's id; enqueuing it again changes nothing")
@click.option("--max-retries", type=int, help="how often to try again after the first run")
@click.option("--timeout", type=float, help="seconds that one run may take")
@app_option
@url_option
@json_option
def enqueue(
    task: str,
    args: Sequence[Given],
    keywords: Sequence[tuple[str, Given]],
    kwargs: Given | None,
    app: AppName | None,
    url: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Store a job of TASK and print its id.

    Each of ARGS is read as JSON, or as text if it is no JSON: 42, true, '{"a": 1}', hello.
    Put -- before an argument that starts with a dash.

    With an app (-A) the task must be one of its tasks, its own options hold, and the
    arguments must fit its signature. Without one any name and any arguments are taken.

    \b
    windlass enqueue send_welcome 42 -A shop:app
    windlass enqueue resize cat.jpg -k width=640 --delay 60 -A shop:app
    """
    by_keyword = named(kwargs, keywords)
    chosen: JobOptions = {name: value for name, value in options.items() if value is not None}  # type: ignore[assignment]
    with opened(app, url) as found:
        handler = unknown_task(found, task) if app is None else known_task(found, task)
        values, by_name = fitted(handler.definition.arguments, args, by_keyword)
        stored = handler.using(**chosen).enqueue(*values, **by_name)
    if as_json:
        print_json({"id": stored.id, "task": task, "duplicate": stored.duplicate})
        return
    click.echo(stored.id)
    if stored.duplicate:
        click.echo("windlass: This job was there before; no new one was stored.", err=True)


def named(whole: Given | None, single: Sequence[tuple[str, Given]]) -> dict[str, Given]:
    """The arguments by name; one that is given by itself wins over the object."""
    value = {} if whole is None else whole.value
    if not isinstance(value, dict):
        raise click.UsageError("--kwargs takes a JSON object, as in '{\"width\": 640}'.")
    return {name: Given(item) for name, item in value.items()} | dict(single)


def known_task(app: Windlass, name: str) -> Task[..., Any, Any]:
    """The task of an app, with the options that it was declared with."""
    if name not in app.tasks:
        near = get_close_matches(name, app.tasks, 1)
        hint = (
            f"did you mean {near[0]}?"
            if near
            else f"known are {', '.join(islice(app.tasks, SHOWN))}."
        )
        raise Refusal(f"No task named {name} is registered in this app: {hint}")
    return app.tasks[name]


def unknown_task(app: Windlass, name: str) -> Task[..., Any, Any]:
    """A task of which nothing but the name is known."""
    return Task(elsewhere(name), Options(), app.wire)
