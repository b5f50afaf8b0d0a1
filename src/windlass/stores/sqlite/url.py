"""What a SQLite URL says: which file, and how it is to be used."""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import unquote

from ...errors import InvalidOption
from ..options import Options

_OPTIONS: Final = ("synchronous", "busy_timeout", "migrate", "create")


class Settings(NamedTuple):
    """What a URL came to. Times are in seconds."""

    path: str
    synchronous: str = "normal"
    busy_timeout: float = 30.0
    migrate: bool = True
    create: bool = True
    """whether a file that is not there is made"""


def parse(url: str) -> Settings:
    """The settings of a URL; `InvalidOption` for what it cannot say."""
    # By hand: to a URL parser a # in a file's name is the end of it.
    quoted, _, query = url.removeprefix("sqlite://").partition("?")
    path = unquote(quoted.removeprefix("/"))
    if quoted[:1] != "/" or not path or path == ":memory:" or "\0" in path:
        raise InvalidOption(
            f"A SQLite URL is sqlite:///file.db or sqlite:////path/to/file.db, not {url}; "
            "for a store in memory use memory://."
        )
    options = Options(query, _OPTIONS, "a SQLite URL")
    synchronous = options.get("synchronous", "normal")
    if synchronous not in ("normal", "full"):
        raise InvalidOption("synchronous is normal or full in a SQLite URL.")
    return Settings(
        path,
        synchronous,
        options.seconds("busy_timeout", 30.0),
        options.switch("migrate", default=True),
        options.switch("create", default=True),
    )
