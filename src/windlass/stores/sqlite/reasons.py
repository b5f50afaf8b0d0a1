"""Why SQLite cannot use a file, and what to do about it: its own words name no cause."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

READ_ONLY: Final = sqlite3.SQLITE_READONLY
CANNOT_OPEN: Final = sqlite3.SQLITE_CANTOPEN
NO_DATABASE: Final = sqlite3.SQLITE_NOTADB


def not_opened(path: str, error: sqlite3.Error) -> str:
    """A sentence on a file that cannot be opened."""
    return f"Cannot open the SQLite file {path}: {_reason(path, error)}."


def not_there(path: str) -> str:
    """A sentence on a file that nobody has made yet."""
    folder, why = (
        Path(path).absolute().parent,
        "check the URL; a worker or the first job makes the file",
    )
    if is_missing(folder):
        why = f"there is no folder {folder}; make it, or correct the URL"
    return f"There is no SQLite file {path}: {why}."


def is_missing(path: str | Path) -> bool:
    """Whether there is no such file, which is not the same as one that may not be looked at."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def not_written(path: str, error: sqlite3.Error) -> str:
    """A sentence on a file that cannot be written to."""
    return f"SQLite could not write to {path}: {_reason(path, error)}."


def _reason(path: str, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == READ_ONLY:
        return f"{error}; let this user write to the file and to its folder"
    if code == NO_DATABASE:
        return f"{error}; name another file, or move this one away"
    if code != CANNOT_OPEN:
        return str(error)
    folder = _folder(path)
    if os.path.isdir(path):  # and not Path.is_dir, which raises where one may not look
        return "it is a folder; name a file in it"
    if is_missing(folder):
        return f"there is no folder {folder}; make it, or correct the URL"
    by_effect = os.access in os.supports_effective_ids
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=by_effect):
        return f"{error}; let this user write to the folder {folder}"
    return f"{error}; see that this user may read and write it"


def _folder(path: str) -> Path:
    return Path(path).absolute().parent
