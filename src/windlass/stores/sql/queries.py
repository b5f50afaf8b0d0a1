"""Loads `.sql` files: a later folder's file wins over that of the same name in one before.

So a listing of `stores/<dialect>/queries` shows exactly where an engine differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from .rows import CLAIM_COLUMNS, COLUMNS, LOCK_COLUMNS, SPECIAL

SHARED: Final = "windlass.stores.sql"

JOB_COLUMNS: Final = {
    "/*columns*/": ", ".join(COLUMNS),
    "/*claim_columns*/": ", ".join(CLAIM_COLUMNS),
    "/*lock_columns*/": ", ".join(SPECIAL if name == "special" else name for name in LOCK_COLUMNS),
    "/*special*/": SPECIAL,
}
"""What stands for lists of columns in the queries of a store."""


def load_queries(*packages: str, columns: Mapping[str, str] = JOB_COLUMNS) -> Mapping[str, str]:
    """The queries of these packages by name, comments cut, lists of columns filled in."""
    return _load(packages, tuple(columns.items()))


@cache
def _load(packages: tuple[str, ...], columns: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Read once: it is hundreds of files, and a process may open many stores."""
    found: dict[str, str] = {}
    for package in packages:
        folder = files(package) / "queries"
        for file in folder.iterdir() if folder.is_dir() else ():
            if file.name.endswith(".sql"):
                text = _prepare(file.read_text("utf-8"), columns)
                found[file.name.removesuffix(".sql")] = text
    return MappingProxyType(found)


def _prepare(text: str, columns: Iterable[tuple[str, str]]) -> str:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    query = "\n".join(lines).strip()
    for mark, names in columns:
        query = query.replace(mark, names)
    return query
