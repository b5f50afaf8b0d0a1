"""`windlass migrate`: bring a store's schema up to date, apart from starting anything."""

from __future__ import annotations

import click

from ..stores.open import open_store
from .target import AppName, app_option, ask, opened, unmigrated, url_option
from .text import masked


@click.command()
@app_option
@url_option
def migrate(app: AppName | None, url: str | None) -> None:
    """Bring the store's schema up to date and name what was applied.

    Workers and clients do this by themselves when they open a store, unless its URL says
    migrate=off. A store without a schema, such as Redis or a server, is only asked whether it can
    be used.
    """
    with opened(app, url) as found:
        place = found.url
    open_store(place)  # so that a URL that no store serves is refused as it was written
    # Opening must not do it first, or there would be nothing left to name.
    with opened(None, unmigrated(place)) as found:
        applied = ask(found, lambda store: store.migrate())
    for name in applied:
        click.echo(f"Applied {name}.")
    if not applied:
        click.echo(f"The schema of {masked(place)} is up to date.")
