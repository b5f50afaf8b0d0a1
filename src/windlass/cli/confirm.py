"""Asking before something is gone for good."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def yes_option(command: F) -> F:
    return click.option("-y", "--yes", is_flag=True, help="do not ask; needed without a terminal")(
        command
    )


def confirm(question: str, yes: bool) -> None:
    """Go on if the answer is yes; where nobody can be asked, it must have been given before."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("There is no terminal to ask on: add --yes to go on.")
    click.confirm(question, abort=True, err=True)
