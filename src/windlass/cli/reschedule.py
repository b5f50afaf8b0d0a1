"""`windlass reschedule`: give jobs another time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import click

from ..admin.change import reschedule as rescheduling
from ..core.options import Options
from .changed import change_by_id
from .target import AppName, app_option, existing, json_option, url_option
from .values import duration, job_id, moment


@click.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, type=job_id)
@click.option("--delay", type=duration, metavar="DURATION", help="from now, as in 90, 5min or 2h")
@click.option("--at", type=moment, metavar="MOMENT", help="a moment, as in 2030-01-31T09:00Z")
@app_option
@url_option
@json_option
def reschedule(
    ids: Sequence[str],
    delay: float | None,
    at: datetime | None,
    app: AppName | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Give the jobs of these IDs another time; --delay 0 lets them run now.

    For jobs that are pending, scheduled, or wait for their next attempt. Exits with 3 if some
    of them are unknown or in another state; the others are rescheduled.
    """
    given = {"delay": delay} if at is None else {"at": at}
    if (delay is None) == (at is None):
        raise click.UsageError("Give one of --delay and --at.")
    time = Options().merged(given)
    with existing(app, url) as found:
        change_by_id(found, rescheduling(time.delay, time.at), ids, as_json)
