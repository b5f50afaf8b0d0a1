"""What the sources of settings say about one section: a file, variables, flags.

Nothing is checked here but that the file can be read and has no section that nobody knows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..errors import ConfigError

SHORT: Final = {"WINDLASS_HISTORY": ("history", "url")}
"""Variables that are named after their section alone, and the setting that they are.
They win over the long form, and say nothing if they are empty."""


class Given(NamedTuple):
    """A value as it was written, and where."""

    value: Any
    source: str


def from_file(folder: Path, section: str, known: Collection[str]) -> dict[str, Given]:
    """A section of `windlass.toml`, or of `pyproject.toml` where that is missing."""
    own, shared = folder / "windlass.toml", folder / "pyproject.toml"
    path = own if own.exists() else shared
    if not path.exists():
        return {}
    try:
        tables = _parsed(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path.name} cannot be read: {error}.") from None
    above = ("tool", "windlass") if path == shared else ()
    for name in above:
        tables = _table(tables, name, path)
    for name in tables.keys() - {*known, section}:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean [{near[0]}]?" if near else f"known are {', '.join(known)}."
        raise ConfigError(f"Unknown section [{name}] in {path.name}: {hint}")
    source = f"{path.name} [{'.'.join((*above, section))}]"
    return {name: Given(value, source) for name, value in _table(tables, section, path).items()}


@lru_cache(maxsize=4)
def _parsed(text: str) -> Mapping[str, Any]:
    """What a file says; each section of each app asks for it, and it seldom changes."""
    return tomllib.loads(text)


def _table(tables: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    table = tables.get(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{name} in {path.name} must be a table.")
    return table


def from_environ(
    environ: Mapping[str, str], section: str, lists: Collection[str]
) -> dict[str, Given]:
    """The variables of a section; those of `lists` are divided by commas."""
    prefix = variable_of(section, "")
    given: dict[str, Given] = {}
    for variable, text in environ.items():
        if variable.startswith(prefix):
            name = variable.removeprefix(prefix).lower()
            given[name] = Given(split_names(text) if name in lists else text, variable)
    for variable, (of, name) in SHORT.items():
        if of == section and environ.get(variable):
            given[name] = Given(environ[variable], variable)
    return given


def from_flags(flags: Mapping[str, Any]) -> dict[str, Given]:
    """Those that are not None, which a flag is that was not given."""
    return {
        name: Given(value, f"--{name.replace('_', '-')}")
        for name, value in flags.items()
        if value is not None
    }


def variable_of(section: str, name: str) -> str:
    return f"WINDLASS_{section}_{name}".upper()


def split_names(text: str) -> tuple[str, ...]:
    """`a, b` as ("a", "b")."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
