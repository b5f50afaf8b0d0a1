"""Why SQLite cannot use a file, and what to do about it: its own words name no cause."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

READ_ONLY: Final = sqlite3.SQLITE_READONLY
CANNOT_OPEN: Final = sqlite3.SQLITE_CANTOPEN


def not_opened(path: str, error: sqlite3.Error) -> str:
    """A sentence on a file that cannot be opened."""
    return f"Cannot open the SQLite file {path}: {_reason(path, error)}."


def not_written(path: str, error: sqlite3.Error) -> str:
    """A sentence on a file that cannot be written to."""
    return f"SQLite could not write to {path}: {_reason(path, error)}."


def _reason(path: str, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == READ_ONLY:
        return f"{error}; let this user write to the file and to its folder"
    if code != CANNOT_OPEN:
        return str(error)
    file, folder = Path(path), Path(path).absolute().parent
    if file.is_dir():
        return "it is a folder; name a file in it"
    if not folder.exists():
        return f"there is no folder {folder}; make it, or correct the URL"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{error}; let this user write to the folder {folder}"
    return f"{error}; see that this user may read and write it"
