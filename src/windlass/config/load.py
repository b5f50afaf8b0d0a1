"""Settings from all of their sources: flags win over variables, these over the file.

`load` and `explain` resolve the values in the same way: what `windlass config` shows is what a
worker or a server gets.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args, get_origin

import msgspec

from ..errors import ConfigError
from .history import HistorySettings
from .server import ServerSettings
from .sources import SHORT, Given, from_environ, from_file, from_flags, variable_of
from .worker import WorkerSettings

S = TypeVar("S", bound=msgspec.Struct)

SECTIONS: Final[Mapping[str, type[msgspec.Struct]]] = {
    "worker": WorkerSettings,
    "server": ServerSettings,
    "history": HistorySettings,
}
"""The tables that `windlass.toml` can have, each with its class of settings."""

DEFAULT: Final = "default"
NEAR: Final = 0.85
"""How alike a variable must be to a known one to be taken for a slip: other programs may have
variables with our prefix."""

PREFIX: Final = "WINDLASS"

_WORDS: Final[Mapping[Any, str]] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    tuple[str, ...]: "a list of texts",
}


class Setting(NamedTuple):
    """One setting as it holds, and what it was taken from."""

    name: str
    value: Any
    source: str
    """a flag, a variable, a table of a file as in `windlass.toml [server]`, or `default`"""


def load(
    kind: type[S],
    section: str,
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> S:
    """Settings of a class for a section (`worker` -> `WINDLASS_WORKER_*`, `[worker]`)."""
    made, _ = _resolved(kind, section, flags, environ, folder)
    return made


def explain(
    kind: type[msgspec.Struct],
    section: str,
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Sequence[Setting]:
    """What `load` gives, setting by setting, each with its source."""
    made, sources = _resolved(kind, section, flags, environ, folder)
    return [
        Setting(name, getattr(made, name), sources.get(name, DEFAULT))
        for name in made.__struct_fields__
    ]


def history_settings(given: str | HistorySettings | None) -> HistorySettings:
    """Those of an app: as given, or by a URL, or from the other sources."""
    if isinstance(given, HistorySettings):
        return given
    return load(HistorySettings, "history", {"url": given or None})


def misspelt(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Variables of ours that nothing reads, each with the one that may be meant.

    `load` cannot refuse them: it knows the variables of its section by their prefix, and there
    the slip is.
    """
    known = {"WINDLASS_URL", "WINDLASS_APP", *SHORT}
    for section, kind in SECTIONS.items():
        known |= {variable_of(section, name) for name in kind.__struct_fields__}
    strange = [name for name in environ if name not in known and _is_of_ours(name)]
    near = {name: get_close_matches(name, known, 1, NEAR) for name in strange}
    return {name: meant for name, found in near.items() for meant in found}


def _is_of_ours(variable: str) -> bool:
    """Whether it begins with our name, or with nearly that."""
    prefix = variable.partition("_")[0].upper()
    return prefix == PREFIX or bool(get_close_matches(prefix, (PREFIX,), 1, NEAR))


def _resolved(
    kind: type[S],
    section: str,
    flags: Mapping[str, Any] | None,
    environ: Mapping[str, str] | None,
    folder: Path | None,
) -> tuple[S, Mapping[str, str]]:
    """The settings, and the source of each that is not a default."""
    types = {field.name: field.type for field in msgspec.structs.fields(kind)}
    lists = [name for name, type in types.items() if type == tuple[str, ...]]
    given = from_file(folder or Path.cwd(), section, SECTIONS)
    given |= from_environ(os.environ if environ is None else environ, section, lists)
    given |= from_flags(flags or {})
    values = {name: _converted(types, section, name, each) for name, each in given.items()}
    try:
        made = kind(**values)
    except ConfigError as error:
        raise ConfigError(f"A setting of {section} is wrong: {error}") from None
    return made, {name: each.source for name, each in given.items()}


def _converted(types: Mapping[str, Any], section: str, name: str, given: Given) -> Any:
    if name not in types:
        near = get_close_matches(name, types, 1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(types)}."
        raise ConfigError(f"Unknown setting {section}.{name}: {hint}")
    try:
        return msgspec.convert(given.value, types[name], strict=False)
    except msgspec.ValidationError:
        # Without the value: it may be a URL with a password.
        raise ConfigError(
            f"A setting of {section} is wrong: {name} must be {_word(types[name])}; "
            f"correct it in {given.source}."
        ) from None


def _word(kind: Any) -> str:
    """What a value must be."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    return _WORDS[kind]
