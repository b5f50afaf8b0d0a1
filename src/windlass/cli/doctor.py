"""`windlass doctor`: what is wrong in a store, for people and for monitoring."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

import click

from ..admin.doctor import Finding, diagnose, examine
from ..core.clock import system_clock
from .output import print_json
from .target import AppName, app_option, ask, existing, json_option, unmigrated, url_option
from .text import masked, one_line

RISKS: Final = 4
FAULTS: Final = 5


@click.command()
@click.argument("store", required=False, metavar="[URL]")
@app_option
@url_option
@json_option
def doctor(store: str | None, app: AppName | None, url: str | None, as_json: bool) -> None:
    """Audit a store without writing to it.

    Looks for jobs whose lease ran out and that nobody rescues, dependents that nobody unblocks,
    counters that are off, an engine that is set up to lose jobs, clocks that differ, queues that no
    worker serves, and all else that needs attention. The exit code is 0 if nothing was found, 4 for
    risks, 5 for faults.
    """
    with existing(app, store or url) as found:
        found.client.url = unmigrated(found.client.url)
        told = diagnose(ask(found, lambda store: examine(store, found.clock or system_clock)))
        if as_json:
            print_json([{"kind": f.kind, "fault": f.is_fault, "text": f.text} for f in told])
        else:
            _print(told, masked(found.url))
    if told:
        sys.exit(FAULTS if any(each.is_fault for each in told) else RISKS)


def _print(findings: Sequence[Finding], url: str) -> None:
    for each in findings:
        click.echo(one_line(f"{'fault' if each.is_fault else 'risk'}: {each.text}"))
    if not findings:
        click.echo(f"{url} is in good order.")
