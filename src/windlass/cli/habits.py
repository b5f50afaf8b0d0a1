"""What people write who know the command of another queue, and how they are answered."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

import click

FIRST: Final = ("-A", "--app", "-u", "--url")
"""Options that every command has, or nearly, and that may stand before it too."""

_BEAT: Final = "each worker sees to the schedules of its app; leave it out"
_POOL: Final = (
    "an async def runs on the event loop, a def in a thread, one with process=True in a child"
)
_RECYCLED: Final = "did you mean --max-jobs?"

OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("-B", "--beat", "-s", "--with-scheduler", "--scheduler"), _BEAT),
    **dict.fromkeys(("-P", "--pool", "--worker-class"), _POOL),
    "-t": "did you mean --threads?",
    **dict.fromkeys(("--max-tasks-per-child", "--maxtasksperchild"), _RECYCLED),
    **dict.fromkeys(("-p", "--autoscale"), "did you mean --processes?"),
    **dict.fromkeys(("-w", "--watch", "--autoreload"), "did you mean --reload?"),
    **dict.fromkeys(("-n", "--hostname", "--name"), "workers name themselves: host, process, id"),
    **dict.fromkeys(("-v", "--verbose"), "did you mean --log-level debug?"),
    **dict.fromkeys(("-q", "--quiet"), "did you mean --log-level warning?"),
    **dict.fromkeys(("-b", "--broker"), "did you mean --url?"),
    **dict.fromkeys(
        ("-D", "--detach", "--pidfile", "-f", "--logfile"),
        "it stays in the foreground and logs to stderr: let a service manager run it",
    ),
}
"""Options of other workers."""

COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("beat", "scheduler", "rqscheduler", "cron-worker"),
        "each windlass worker sees to the schedules; list them by windlass cron",
    ),
    **dict.fromkeys(
        ("flower", "ui", "dashboard", "web", "monitor"),
        "windlass server has a dashboard; windlass top is for the terminal",
    ),
    **dict.fromkeys(("inspect", "status", "events"), "did you mean workers, jobs or top?"),
    **dict.fromkeys(("info", "stats", "report"), "did you mean queues or top?"),
    **dict.fromkeys(("run", "start", "run_worker", "consumer", "run_huey"), "did you mean worker?"),
    **dict.fromkeys(("call", "send", "defer"), "did you mean enqueue?"),
    **dict.fromkeys(("requeue", "retry", "failed"), "did you mean dead replay?"),
    **dict.fromkeys(("revoke", "abort"), "did you mean cancel?"),
    **dict.fromkeys(("empty", "flush", "clear"), "did you mean purge?"),
    **dict.fromkeys(("schema", "upgrade", "init"), "did you mean migrate?"),
    **dict.fromkeys(("multi", "supervisor"), "did you mean worker --processes?"),
    "control": "did you mean workers?",
    "shell": "start python and import your app",
    "result": "did you mean job?",
}
"""Commands of others."""


def behind_the_command(args: Sequence[str]) -> list[str]:
    """`-A shop worker` as `worker -A shop`: other commands have it in front."""
    moved, rest = [], [*args]
    while rest:
        name, separator, _ = rest[0].partition("=")
        if name not in FIRST:
            break
        width = 1 if separator else 2
        moved += rest[:width]
        rest = rest[width:]
    return [*rest[:1], *moved, *rest[1:]] if rest else moved


def answered(error: click.NoSuchOption) -> click.UsageError:
    """The error, with what to write in place of an option of another worker."""
    answer = OPTIONS.get(error.option_name)
    if answer is None or error.ctx is None or error.ctx.info_name != "worker":
        return error
    return click.UsageError(
        f"No such option '{error.option_name}': {answer}.".replace("?.", "?"), error.ctx
    )


def warn_of_variables(command: str) -> None:
    """Tell of variables that are nearly ours: nothing reads them, and nothing else would say so.

    Those that a command takes for its settings it refuses itself.
    """
    from ..config import misspelt
    from ..worker.supervisor.note import VARIABLE

    if VARIABLE in os.environ:
        # The supervisor has told it.
        return
    from .text import one_line

    for variable, meant in misspelt(os.environ).items():
        if variable.startswith(f"WINDLASS_{command}_".upper()):
            continue
        click.echo(f"windlass: {one_line(variable)} is no setting: is it {meant}?", err=True)
