"""Settings: one frozen class per service, and where their values come from.

Flags win over `WINDLASS_*` variables, these over `windlass.toml` (or `[tool.windlass]` in
`pyproject.toml`), these over the defaults. Names of flags, variables and keys are the
names of the fields; there is no second list to keep in step.
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from .core.rotation import parse_queues
from .errors import ConfigError

S = TypeVar("S", bound=msgspec.Struct)

SECTIONS: Final = ("worker", "history")
"""The tables that `windlass.toml` can have, one for each class of settings."""


class WorkerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How one worker process works. Times are in seconds."""

    queues: tuple[str, ...] = ("default",)
    """queues to serve, with weights as in a:3,b; * serves all"""
    strict: bool = False
    """serve a queue only while those named before it are empty"""
    concurrency: int = 100
    """jobs that run at the same time"""
    lease: float = 30.0
    """how long a claim holds without renewal"""
    shutdown_timeout: float = 30.0
    """how long running jobs may take to finish after a stop signal"""
    hook_timeout: float = 10.0
    """how long each shutdown hook, and closing each resource, may take"""
    rescue_interval: float = 5.0
    """how often expired leases are looked for"""
    prune_interval: float = 30.0
    """how often finished jobs that were kept long enough are dropped"""
    processes: int = 1
    """worker processes to run; more than one have a supervisor"""
    max_jobs: int = 0
    """jobs after which a process is replaced; 0 is never"""
    max_memory: int = 0
    """resident memory in MiB above which a process is replaced; 0 is never"""
    unknown_patience: float = 3600.0
    """how long a job waits for a worker that knows its task before it is dead"""

    def __post_init__(self) -> None:
        parse_queues(self.queues, strict=self.strict)
        for name in ("concurrency", "processes", "lease", "rescue_interval", "prune_interval"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be above 0.")
        for name in (
            "max_jobs",
            "max_memory",
            "shutdown_timeout",
            "hook_timeout",
            "unknown_patience",
        ):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name} must be 0 or more.")
        for name in (
            "lease",
            "shutdown_timeout",
            "hook_timeout",
            "rescue_interval",
            "prune_interval",
            "unknown_patience",
        ):
            if math.isinf(getattr(self, name)):
                raise ConfigError(f"{name} must have an end; give a large number instead.")

    @property
    def is_supervised(self) -> bool:
        """Whether `windlass worker` needs a process that keeps the others."""
        return self.processes > 1 or self.max_jobs > 0 or self.max_memory > 0


class HistorySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Where finished jobs are kept for search, and how many of them. Times are in seconds."""

    url: str = ""
    """the database, as in sqlite:///history.db; none keeps no history"""
    keep: float = 0.0
    """how long jobs are kept; 0 is for ever"""
    most: int = 0
    """the most jobs that are kept; 0 is any number"""
    interval: float = 1.0
    """how often what has ended is written there"""

    @property
    def is_bounded(self) -> bool:
        """Whether some jobs are to be dropped some day."""
        return self.keep > 0 or self.most > 0

    def __post_init__(self) -> None:
        if not 0 < self.interval < math.inf:
            raise ConfigError("interval of history must be a number of seconds above 0.")
        if not 0 <= self.keep < math.inf:
            raise ConfigError("keep of history must be a number of seconds, or 0 for ever.")
        if self.most < 0:
            raise ConfigError("most of history must be a number of jobs, or 0 for any.")


def load(
    kind: type[S],
    section: str,
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> S:
    """Settings of a class for a section (`worker` -> `WINDLASS_WORKER_*`, `[worker]`)."""
    values = _from_file(folder or Path.cwd(), section)
    values |= _from_environ(os.environ if environ is None else environ, kind, section)
    values |= {name: value for name, value in (flags or {}).items() if value is not None}
    fields = [field.name for field in msgspec.structs.fields(kind)]
    for name in values:
        if name not in fields:
            near = get_close_matches(name, fields, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(fields)}."
            raise ConfigError(f"Unknown setting {section}.{name}: {hint}")
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"A setting of {section} is wrong: {str(error).rstrip('.')}.") from None


def history_settings(given: str | HistorySettings | None) -> HistorySettings:
    """Those of an app: as given, or by a URL, or from WINDLASS_HISTORY and the other sources."""
    if isinstance(given, HistorySettings):
        return given
    url = given or os.environ.get("WINDLASS_HISTORY")
    return load(HistorySettings, "history", {"url": url or None})


def _from_file(folder: Path, section: str) -> dict[str, Any]:
    own, shared = folder / "windlass.toml", folder / "pyproject.toml"
    path = own if own.exists() else shared
    if not path.exists():
        return {}
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path.name} cannot be read: {error}.") from None
    for name in ("tool", "windlass") if path == shared else ():
        tables = _table(tables, name, path)
    for name in tables.keys() - {*SECTIONS, section}:
        near = get_close_matches(name, SECTIONS, 1)
        hint = f"did you mean [{near[0]}]?" if near else f"known are {', '.join(SECTIONS)}."
        raise ConfigError(f"Unknown section [{name}] in {path.name}: {hint}")
    return _table(tables, section, path)


def _table(tables: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    table = tables.get(name, {})
    if not isinstance(table, dict):
        raise ConfigError(f"{name} in {path.name} must be a table.")
    return table


def _from_environ(
    environ: Mapping[str, str], kind: type[msgspec.Struct], section: str
) -> dict[str, Any]:
    prefix = f"WINDLASS_{section.upper()}_"
    lists = {field.name for field in msgspec.structs.fields(kind) if "tuple" in str(field.type)}
    values: dict[str, Any] = {}
    for variable, text in environ.items():
        if variable.startswith(prefix):
            name = variable.removeprefix(prefix).lower()
            values[name] = split_names(text) if name in lists else text
    return values


def split_names(text: str) -> tuple[str, ...]:
    """`a, b` as ("a", "b")."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
