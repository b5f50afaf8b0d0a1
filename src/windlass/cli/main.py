"""The `windlass` command: finds the subcommand and turns every error into one sentence.

Nothing here may import a command, the app or rich at the top: `windlass --help` shows this
table, and each command pays only for what it uses.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Final

import click

from .. import __version__
from ..errors import UnknownJob, UnknownSchedule, WindlassError, WrongState
from .group import Group
from .habits import answered, behind_the_command, warn_of_variables
from .refusal import Refusal, Unmet

COMMANDS: Final = {
    "worker": "Run the jobs of an app until it is told to stop.",
    "server": "Serve the HTTP and gRPC APIs.",
    "enqueue": "Store a job and print its id.",
    "jobs": "List jobs.",
    "job": "Show one job, with its arguments, result and error.",
    "why": "Tell why a job is not running.",
    "cancel": "Cancel jobs.",
    "reschedule": "Give jobs another time.",
    "prioritize": "Give jobs another priority.",
    "signal": "Send a job what it waits for.",
    "dead": "List, replay or delete jobs that failed for good.",
    "cron": "List, add, change, pause or trigger schedules.",
    "history": "Search jobs that are over.",
    "queues": "Count the jobs of every queue.",
    "pause": "Stop queues for every worker.",
    "resume": "Let workers claim from queues again.",
    "purge": "Delete the jobs that wait in a queue.",
    "workers": "List the workers that are alive, or direct them.",
    "top": "Watch queues, workers and jobs live on the terminal.",
    "keys": "Make, list or revoke the keys of the APIs.",
    "config": "Show the settings, and where each came from.",
    "doctor": "Audit a store without writing to it.",
    "verify": "Check that a store of yours keeps every guarantee of Windlass.",
    "move": "Move all jobs to another store.",
    "migrate": "Bring the store's schema up to date.",
    "demo": "See a small shop at work; needs no server.",
}
"""Each command, which is in the module of its name, and what the list of commands says of it."""


class Commands(Group):
    """A group that imports a command when it is called, and not to list it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"{__package__}.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, behind_the_command(args))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            raise answered(error) from None
        except (UnknownJob, UnknownSchedule, WrongState) as error:
            raise Unmet(str(error)) from None
        except WindlassError as error:
            raise Refusal(str(error)) from None


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="windlass", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Windlass, a distributed task queue.

    The store is the one that --url names, or WINDLASS_URL, or sqlite:///windlass.db.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    elif ctx.invoked_subcommand != "config":
        warn_of_variables(ctx.invoked_subcommand)


def main() -> None:
    try:
        cli.main(prog_name="windlass")
    except OSError as error:
        # Not a broken pipe, which click ends quietly: a full disk, a file that is not ours.
        Refusal(f"{error.strerror}: {error.filename or 'the output'}.").show()
        sys.exit(Refusal.exit_code)


if __name__ == "__main__":
    main()
