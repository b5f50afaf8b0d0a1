"""The columns of jobs as SQLite gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..sql.queries import JOB_COLUMNS
from ..sql.rows import COLUMNS

_WAITS_FOR: Final = (
    "iif(state = 'blocked', (SELECT json_group_array(parent) FROM windlass_edges "
    "WHERE child = windlass_jobs.id), NULL)"
)


def _listed(waits_for: str | None) -> str:
    given = {"waits_for": waits_for}
    return ", ".join(text for name in COLUMNS if (text := given.get(name, name)) is not None)


STORE_COLUMNS: Final[Mapping[str, str]] = {
    **JOB_COLUMNS,
    "/*columns*/": _listed(_WAITS_FOR),
    "/*stored_columns*/": _listed(None),
    "/*journal_columns*/": _listed("NULL"),
}
"""What stands for lists of columns in the queries of the store; what is in the journal waits for
nobody."""
