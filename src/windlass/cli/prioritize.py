"""`windlass prioritize`: give jobs another priority."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..admin.change import prioritize as prioritizing
from ..core.options import Options
from .changed import change_by_id
from .target import AppName, app_option, existing, json_option, url_option
from .values import job_id
from .values import priority as number_or_word


@click.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, type=job_id)
@click.argument("priority", type=number_or_word)
@app_option
@url_option
@json_option
def prioritize(
    ids: Sequence[str], priority: int | str, app: AppName | None, url: str | None, as_json: bool
) -> None:
    """Give the jobs of these IDs another PRIORITY: 0 to 100, or low, default, high.

    For jobs that wait, whatever for. One that is pending goes to the end of the line of its new
    priority. Exits with 3 if some of them are unknown or in another state; the others are changed.
    """
    chosen = Options().merged({"priority": priority}).priority
    with existing(app, url) as found:
        change_by_id(found, prioritizing(chosen), ids, as_json)
