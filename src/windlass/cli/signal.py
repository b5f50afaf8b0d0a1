"""`windlass signal`: what a job waits for, from the shell."""

from __future__ import annotations

import click

from .output import print_json
from .target import AppName, app_option, existing, json_option, url_option
from .values import Given, job_id, name, understood


@click.command()
@click.argument("id", type=job_id)
@click.argument("signal", metavar="NAME", type=name)
@click.argument("value", required=False, type=understood)
@app_option
@url_option
@json_option
def signal(
    id: str, signal: str, value: Given | None, app: AppName | None, url: str | None, as_json: bool
) -> None:
    """Send the job ID the signal NAME, with a VALUE or with none.

    VALUE is read as JSON, or as text if it is no JSON. A job that is parked for this signal
    goes on; another one finds it when it comes to wait for it. Exits with 3 if the job is
    unknown or finished, or has another signal of this name: the first one stays.

    \b
    windlass signal 01980f5e-6c1a-7b52-9d3f-1f2e3d4c5b6a approved '{"by": "Ada"}'
    """
    with existing(app, url) as found:
        found.signal(id, signal, None if value is None else value.value)
    if as_json:
        print_json({"id": id, "signal": signal})
    else:
        click.echo(f"Sent {signal} to job {id}.")
