"""`windlass config`: the settings as they hold here, and where each came from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from ..app import Windlass
from ..config import SECTIONS, Setting, explain, misspelt
from ..config.load import DEFAULT
from .output import Column, print_json, print_table
from .settings import written
from .target import json_option
from .text import masked, one_line

STORE: Final = "store"
"""Shown as a section, although it is one variable."""
COLUMNS: Final = (Column("name"), Column("value"), Column("from"))


@click.command()
@click.argument("section", required=False, type=click.Choice((STORE, *SECTIONS)))
@json_option
def config(section: str | None, as_json: bool) -> None:
    """Show the settings of one SECTION or of all, and where each came from.

    Variables win over windlass.toml (or [tool.windlass] in pyproject.toml) of the current folder,
    and that over the defaults. What the options of a command or the code of an app say wins over
    all of these, and is not seen here.
    """
    names = [section] if section else [STORE, *SECTIONS]
    # All of them before the first is printed: one may be refused.
    found = {name: _settings(name) for name in names}
    for variable, meant in misspelt(os.environ).items():
        click.echo(f"windlass: {one_line(variable)} is no setting: is it {meant}?", err=True)
    if as_json:
        print_json({name: _record(settings) for name, settings in found.items()})
    else:
        _print(found)


def _settings(section: str) -> Sequence[Setting]:
    if section == STORE:
        source = "WINDLASS_URL" if os.environ.get("WINDLASS_URL") else DEFAULT
        return [Setting("url", Windlass().url, source)]
    return explain(SECTIONS[section], section)


def _record(settings: Sequence[Setting]) -> Mapping[str, Any]:
    return {name: {"value": _masked(value), "from": source} for name, value, source in settings}


def _print(found: Mapping[str, Sequence[Setting]]) -> None:
    for number, (section, settings) in enumerate(found.items()):
        if number:
            click.echo()
        click.echo(f"[{section}]")
        rows = [(name, written(_masked(value)), source) for name, value, source in settings]
        print_table(COLUMNS, rows)


def _masked(value: Any) -> Any:
    return masked(value) if isinstance(value, str) else value
