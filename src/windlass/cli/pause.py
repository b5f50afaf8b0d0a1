"""`windlass pause`: stop queues for every worker."""

from __future__ import annotations

from collections.abc import Sequence

import click

from .switch import switch
from .target import AppName, app_option, json_option, opened, url_option
from .values import name


@click.command()
@click.argument("queues", metavar="QUEUE...", nargs=-1, required=True, type=name)
@app_option
@url_option
@json_option
def pause(queues: Sequence[str], app: AppName | None, url: str | None, as_json: bool) -> None:
    """Let no worker claim from these QUEUES until they are resumed.

    Jobs that run go on; new ones are accepted and wait. Pausing twice is no error.
    """
    # Of a SQLite file that is not there as well: a queue can be paused before its first job.
    with opened(app, url) as found:
        switch(found, queues, paused=True, as_json=as_json)
