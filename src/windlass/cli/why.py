"""`windlass why`: why a job does not run."""

from __future__ import annotations

import click

from ..admin.facts import look
from ..admin.why import explain
from ..core.clock import system_clock
from .output import print_json
from .target import AppName, app_option, ask, existing, json_option, url_option
from .text import one_line
from .values import job_id


@click.command()
@click.argument("id", type=job_id)
@app_option
@url_option
@json_option
def why(id: str, app: AppName | None, url: str | None, as_json: bool) -> None:
    """Tell in one sentence why the job ID is not running, or that it is.

    The answer is what the store knows at this moment. Times that are "ago" or "in" are by the
    clock of this machine.
    """
    with existing(app, url) as found:
        now = (found.clock or system_clock)()
        facts = ask(found, lambda store: look(store, id, now))
    code, sentence = explain(facts)
    if as_json:
        state = facts.job.state.value
        print_json({"id": id, "state": state, "reason": code, "sentence": sentence})
    else:
        click.echo(one_line(sentence))
