"""Which history a command is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from ..app import Windlass
from ..config import HistorySettings
from ..history.history import History
from ..history.open import open_archive
from .target import with_setting

F = TypeVar("F", bound=Callable[..., Any])


def history_option(command: F) -> F:
    return click.option(
        "--history",
        "place",
        metavar="URL",
        help="the database; wins over WINDLASS_HISTORY and over the app's own",
    )(command)


@contextmanager
def searched(app: Windlass, place: str | None) -> Iterator[History]:
    """The history that was named, or the app's own, for a command that makes no SQLite file."""
    url = place_of(app, place)
    if url.startswith("sqlite:"):
        url = with_setting(url, "create", "off")
    history = History(lambda: HistorySettings(url=url))
    try:
        yield history
    finally:
        history.close()


def place_of(app: Windlass, place: str | None) -> str:
    """The URL of the history, refused as it was written if it cannot be one."""
    history = History(lambda: HistorySettings(url=place)) if place else app.history
    open_archive(history.url)
    return history.url
