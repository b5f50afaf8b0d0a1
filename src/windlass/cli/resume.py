"""`windlass resume`: let workers claim from queues again."""

from __future__ import annotations

from collections.abc import Sequence

import click

from .switch import switch
from .target import AppName, app_option, existing, json_option, url_option
from .values import name


@click.command()
@click.argument("queues", metavar="QUEUE...", nargs=-1, required=True, type=name)
@app_option
@url_option
@json_option
def resume(queues: Sequence[str], app: AppName | None, url: str | None, as_json: bool) -> None:
    """Let workers claim from these QUEUES again. One that was not paused is no error."""
    with existing(app, url) as found:
        switch(found, queues, paused=False, as_json=as_json)
