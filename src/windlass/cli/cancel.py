"""`windlass cancel`: call jobs off."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..admin.change import CANCEL
from .changed import change_by_id
from .target import AppName, app_option, existing, json_option, url_option
from .values import job_id


@click.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, type=job_id)
@app_option
@url_option
@json_option
def cancel(ids: Sequence[str], app: AppName | None, url: str | None, as_json: bool) -> None:
    """Cancel the jobs of these IDs, wherever they are on their way.

    One that is running loses its lease: its worker notices within seconds and stops it.
    Exits with 3 if some of them are unknown or finished already; the others are cancelled.
    """
    with existing(app, url) as found:
        change_by_id(found, CANCEL, ids, as_json)
