"""What stands behind the ? of a store's URL: known settings only, and each of its kind.

No error shows another part of the URL: a password may be in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final
from urllib.parse import parse_qsl

from ..errors import InvalidOption, seconds

MOST_CONNECTIONS: Final = 1000

CONNECT_TIMEOUT: Final = 5.0
"""Seconds for a connection to be made, if the URL does not say."""


class Options(Mapping[str, str]):
    """The settings of one URL; `of` says in errors whose, as in "a Redis URL"."""

    def __init__(self, query: str, known: Sequence[str], of: str) -> None:
        self._values = dict(parse_qsl(query, keep_blank_values=True))
        self.of = of
        for name in self._values.keys() - set(known):
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
            raise InvalidOption(f"Unknown setting {name} in {of}; {hint}")

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def switch(self, name: str, default: bool) -> bool:
        value = self.get(name, "on" if default else "off")
        if value not in ("on", "off"):
            raise InvalidOption(f"{name} is on or off in {self.of}.")
        return value == "on"

    def perhaps(self, name: str) -> bool | None:
        """A switch that is for the store to set, unless it is set here."""
        value = self.get(name, "auto")
        if value not in ("on", "off", "auto"):
            raise InvalidOption(f"{name} is on, off or auto in {self.of}.")
        return None if value == "auto" else value == "on"

    def seconds(self, name: str, default: float, least: float = 0.0) -> float:
        try:
            given = float(self.get(name, default))
        except ValueError:
            raise InvalidOption(f"{name} in {self.of} must be a number of seconds.") from None
        number = seconds(given, name)
        if number < least:
            raise InvalidOption(f"{name} in {self.of} must be at least {least:g} seconds.")
        return number

    def connecting(self, default: float = CONNECT_TIMEOUT) -> float:
        """`connect_timeout`: name, connection, TLS and greeting of a server, all together."""
        return self.seconds("connect_timeout", default, least=0.05)

    def connections(self, name: str, default: int) -> int:
        number = natural(self.get(name, str(default)))
        if number is None or not 1 <= number <= MOST_CONNECTIONS:
            raise InvalidOption(
                f"{name} in {self.of} is a number of connections from 1 to {MOST_CONNECTIONS}."
            )
        return number


def port(text: str, of: str) -> int:
    """The number of a port in the URL that `of` names."""
    number = natural(text)
    if number is None or not 0 < number < 65536:
        raise InvalidOption(f"A port in {of} is a number from 1 to 65535.")
    return number


def natural(text: str) -> int | None:
    """A number of at most nine plain digits; `int` would take signs, blanks and other scripts."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
