"""`windlass keys`: who may use the API of a server, and for what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import click

from ..admin.moment import iso, relative
from ..core.apikey import ApiKey, Made, Role, new_key
from ..core.duration import positive_ms
from ..core.name import checked_name
from ..errors import InvalidOption
from ..stores.contract import Store
from .group import Group
from .output import Column, print_json, print_table
from .refusal import Unmet
from .target import AppName, app_option, ask, existing, json_option, opened, url_option
from .text import masked, one_line
from .values import duration
from .values import name as queue_name

COLUMNS: Final = tuple(map(Column, ("id", "name", "roles", "queues", "created", "expires")))


def _key_id(text: str) -> str:
    """The id of a key. A whole key is understood too, and its secret goes no further."""
    if text.startswith("wl_"):
        text = text.removeprefix("wl_").partition("_")[0]
    try:
        return checked_name(text, "id of a key")
    except InvalidOption as error:
        raise click.BadParameter(str(error)) from None


@click.group(cls=Group)
def keys() -> None:
    """Make, list or revoke the keys of the HTTP and gRPC APIs.

    They are in the store, as hashes, and count for every server on it.
    """


@keys.command()
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice([role.value for role in Role]),
    help="what it is for; needed, can be given again",
)
@click.option(
    "-q",
    "--queue",
    "queues",
    multiple=True,
    type=queue_name,
    metavar="NAME",
    help="it sees and changes this queue only; can be given again",
)
@click.option("--name", default="", help="whose it is, for people")
@click.option("--expires", type=duration, metavar="DURATION", help="how long it counts")
@app_option
@url_option
@json_option
def create(
    roles: Sequence[str],
    queues: Sequence[str],
    name: str,
    expires: float | None,
    app: AppName | None,
    url: str | None,
    as_json: bool,
) -> None:
    """Make a key and print it, once: the store has only a hash of it.

    A read key looks at jobs, queues, workers and history; an enqueue key stores jobs and signals
    them; a work key fetches jobs and finishes them; an operate key looks, and changes jobs, queues
    and schedules; an upkeep key rescues, ticks and prunes; an admin key may do everything.

    \b
    windlass keys create --role enqueue --queue mail --name shop --expires 90d
    """
    if not roles:
        raise click.UsageError(f"Say what the key is for: --role {', '.join(Role)}.")
    expires_in = None if expires is None else positive_ms(expires, "expires")
    make = partial(new_key, roles, queues, name, expires_in=expires_in)
    make()  # What cannot be is refused before a store is opened, or a file made.
    with opened(app, url) as found:
        made = ask(found, lambda store: _put(store, make))
    if as_json:
        print_json({"key": made.text} | _record(made.key))
    else:
        click.echo(_description(made.key), err=True)
        click.echo(made.text)


@keys.command("list")
@app_option
@url_option
@json_option
def list_(app: AppName | None, url: str | None, as_json: bool) -> None:
    """List all keys, by id, without what would let anybody in."""
    with existing(app, url) as found:
        known = ask(found, lambda store: store.keys())
    if as_json:
        print_json([_record(key) for key in known])
    elif known:
        print_table(COLUMNS, [_row(key) for key in known])
    else:
        click.echo(f"There are no keys in {masked(found.url)}.")


@keys.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, type=_key_id)
@app_option
@url_option
@json_option
def revoke(ids: Sequence[str], app: AppName | None, url: str | None, as_json: bool) -> None:
    """Let the keys ID count no more; servers notice within seconds.

    A whole key can be given instead of its id.
    """
    with existing(app, url) as found:
        gone = ask(found, lambda store: store.drop_keys(ids))
    asked = dict.fromkeys(ids)
    revoked = [id for id in asked if id in gone]
    refused = {id: f"There is no key {id}." for id in asked if id not in gone}
    if as_json:
        print_json({"count": len(revoked), "ids": revoked, "refused": refused})
    else:
        for sentence in refused.values():
            click.echo(f"windlass: {one_line(sentence)}", err=True)
        if revoked:
            click.echo(f"Revoked {', '.join(revoked)}.")
    if refused:
        click.get_current_context().exit(Unmet.exit_code)


async def _put(store: Store, make: Callable[..., Made]) -> Made:
    made = make(now=await store.now())
    await store.put_keys([made.key])
    return made


def _description(key: ApiKey) -> str:
    queues = f"the queues {', '.join(key.queues)}" if key.queues else "all queues"
    until = f", until {iso(key.expires_at)}" if key.expires_at is not None else ""
    roles = ", ".join(key.roles)
    return f"Key {key.id} for {roles} on {queues}{until}. Keep it: it is not shown again."


def _record(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "roles": key.roles,
        "queues": key.queues,
        "created_at": iso(key.created_at),
        "expires_at": iso(key.expires_at),
    }


def _row(key: ApiKey) -> Sequence[str]:
    return (
        key.id,
        key.name,
        ",".join(key.roles),
        ",".join(key.queues) or "*",
        relative(key.created_at),
        relative(key.expires_at) or "never",
    )
