"""`windlass cron`: what is enqueued again and again, and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, get_args

import click

from ..admin.moment import iso, relative
from ..admin.scheduling import ScheduleInfo
from ..core.cron import Missed
from ..core.schedule import Overlap
from .enqueue import known_task, named, unknown_task
from .group import Group
from .output import Column, print_json, print_table
from .target import AppName, app_option, existing, json_option, opened, url_option
from .text import masked, one_line
from .values import Given, fitted, keyword, priority, understood

COLUMNS: Final = tuple(
    map(Column, ("name", "schedule", "time zone", "task", "last run", "next run"))
)

F = TypeVar("F", bound=Callable[..., Any])


def _policies(command: F) -> F:
    for option in (
        click.option(
            "--overlap",
            type=click.Choice(get_args(Overlap)),
            help="what a tick does while the job before it is not finished",
        ),
        click.option(
            "--missed",
            type=click.Choice(get_args(Missed)),
            help="which ticks are made up for that nobody was there for",
        ),
        click.option("--timezone", metavar="ZONE", help="as in Europe/Berlin; UTC if not given"),
    ):
        command = option(command)
    return command


@click.group(cls=Group)
def cron() -> None:
    """List schedules, add, change, pause, trigger or remove them.

    Those that the code of an app declares are put into the store by each worker that starts: what
    is changed here holds until then, except for a pause, which holds until it is ended. One that
    the code no longer declares stays until it is removed here.
    """


@cron.command("list")
@app_option
@url_option
@json_option
def list_(app: AppName | None, url: str | None, as_json: bool) -> None:
    """List all schedules, with their last and next run."""
    with existing(app, url) as found:
        infos = found.schedules.list()
    if as_json:
        print_json([_record(info) for info in infos])
    elif infos:
        print_table(COLUMNS, [_row(info) for info in infos])
    else:
        click.echo(f"There are no schedules in {masked(found.url)}.")


@cron.command()
@click.argument("name")
@click.argument("schedule")
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
@_policies
@click.option("-q", "--queue", help="the queue of its jobs")
@click.option("--priority", type=priority, metavar="N", help="0 to 100, or low, default, high")
@click.option("--max-retries", type=int, help="how often to try again after the first run")
@click.option("--timeout", type=float, help="seconds that one run may take")
@app_option
@url_option
@json_option
def add(
    name: str,
    schedule: str,
    task: str,
    args: Sequence[Given],
    keywords: Sequence[tuple[str, Given]],
    app: AppName | None,
    url: str | None,
    **options: Any,
) -> None:
    """Have jobs of TASK enqueued by the SCHEDULE, which is called NAME.

    A SCHEDULE has five fields, or six with seconds first; or it is @hourly, @daily and the like,
    or @every 90s. ARGS are read as by `windlass enqueue`.

    \b
    windlass cron add nightly '0 3 * * *' report --timezone Europe/Berlin -A shop:app
    windlass cron add pulse '@every 90s' ping -A shop:app
    """
    as_json = options.pop("as_json")
    policies = {name: options.pop(name) for name in ("timezone", "missed", "overlap")}
    used: Any = _given(**options)
    chosen: Any = _given(**policies)
    with opened(app, url) as found:
        handler = unknown_task(found, task) if app is None else known_task(found, task)
        values, by_name = fitted(handler.definition.arguments, args, named(None, keywords))
        call = handler.using(**used).call(*values, **by_name)
        found.schedules.add(name, schedule, call, **chosen)
        _show(found.schedules.get(name), "Added", as_json)


@cron.command()
@click.argument("name")
@click.option("--schedule", metavar="SCHEDULE", help="other times")
@_policies
@app_option
@url_option
@json_option
def change(
    name: str,
    schedule: str | None,
    timezone: str | None,
    missed: Missed | None,
    overlap: Overlap | None,
    app: AppName | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Change the schedule NAME; what is not given stays."""
    changes: Any = _given(text=schedule, timezone=timezone, missed=missed, overlap=overlap)
    if not changes:
        raise click.UsageError("Say what to change: --schedule, --timezone, --missed, --overlap.")
    with existing(app, url) as found:
        found.schedules.change(name, **changes)
        _show(found.schedules.get(name), "Changed", as_json)


@cron.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@app_option
@url_option
def pause(names: Sequence[str], app: AppName | None, url: str | None) -> None:
    """Let the schedules NAME make no jobs until they are resumed."""
    with existing(app, url) as found:
        found.schedules.pause(*names)
    click.echo(one_line(f"Paused {', '.join(names)}."))


@cron.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@app_option
@url_option
def resume(names: Sequence[str], app: AppName | None, url: str | None) -> None:
    """Let the schedules NAME go on."""
    with existing(app, url) as found:
        found.schedules.resume(*names)
    click.echo(one_line(f"Resumed {', '.join(names)}."))


@cron.command()
@click.argument("name")
@app_option
@url_option
@json_option
def trigger(name: str, app: AppName | None, url: str | None, as_json: bool) -> None:
    """Enqueue the job of the schedule NAME now and print its id; its ticks stay as they are."""
    with existing(app, url) as found:
        job = found.schedules.trigger(name)
    if as_json:
        print_json({"id": job.id, "schedule": name})
    else:
        click.echo(job.id)


@cron.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@app_option
@url_option
def remove(names: Sequence[str], app: AppName | None, url: str | None) -> None:
    """Remove the schedules NAME; jobs that they made stay.

    One that the code of an app still declares comes back with the next worker that starts.
    """
    with existing(app, url) as found:
        found.schedules.remove(*names)
    click.echo(one_line(f"Removed {', '.join(names)}."))


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _show(info: ScheduleInfo, done: str, as_json: bool) -> None:
    if as_json:
        print_json(_record(info))
    else:
        when = f"runs next at {iso(info.next_at)}" if info.next_at else "is paused"
        click.echo(one_line(f"{done} {info.name}; it {when}."))


def _record(info: ScheduleInfo) -> dict[str, Any]:
    fields = {name: getattr(info, name) for name in info.__struct_fields__}
    return fields | {"last_at": iso(info.last_at), "next_at": iso(info.next_at)}


def _row(info: ScheduleInfo) -> Sequence[str]:
    following = relative(info.next_at)
    if info.paused:
        following = "paused"
    elif info.fault is not None:
        following = f"never: {one_line(info.fault)}"
    last = relative(info.last_at)
    return info.name, info.text, info.timezone, info.task, last, following
