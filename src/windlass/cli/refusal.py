"""How a command says no: one sentence on stderr, and an exit code that scripts can tell apart."""

from __future__ import annotations

from typing import IO, Any

import click

from .text import one_line


class Refusal(click.ClickException):
    """Ends the command with `windlass: <sentence>`, exit code 1 and no traceback."""

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"windlass: {one_line(self.format_message())}", file=file, err=file is None)


class Unmet(Refusal):
    """The store answered, but what was named is not there or not in a state for it."""

    exit_code = 3
