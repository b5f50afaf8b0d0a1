"""The columns of jobs as SQLite gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..sql.queries import JOB_COLUMNS
from ..sql.rows import CLAIM_COLUMNS, COLUMNS, LARGEST_READ, LOCK_COLUMNS, SPECIAL

_WAITS_FOR: Final = (
    "iif(state = 'blocked', (SELECT json_group_array(parent) FROM windlass_edges "
    "WHERE child = windlass_jobs.id), NULL)"
)


_KINDS: Final = {
    "INTEGER": "rank place created_at due attempt fence keep slot lost lease_until "
    "started_at finished_at",
    "TEXT": "id queue worker unique_key awaits",
    "BLOB": "result checkpoint",
}
_AS: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()}


def typed(name: str) -> str:
    """A column as what it should be: SQLite keeps whatever somebody wrote to it, and one job that
    is read as something else would stop those beside it."""
    return f"CAST({name} AS {_AS[name]})" if name in _AS else name


_SMALL_SPEC: Final = f"iif(length(spec) <= {LARGEST_READ}, spec, NULL)"


def _listed(waits_for: str) -> str:
    return ", ".join(waits_for if name == "waits_for" else typed(name) for name in COLUMNS)


STORE_COLUMNS: Final[Mapping[str, str]] = {
    **JOB_COLUMNS,
    "/*columns*/": _listed(_WAITS_FOR),
    "/*claim_columns*/": ", ".join(
        _SMALL_SPEC if name == "spec" else typed(name) for name in CLAIM_COLUMNS
    ),
    "/*lock_columns*/": ", ".join(
        SPECIAL if name == "special" else typed(name) for name in LOCK_COLUMNS
    ),
    "/*stored_columns*/": ", ".join(name for name in COLUMNS if name != "waits_for"),
    "/*journal_columns*/": _listed("NULL"),
}
"""What stands for lists of columns in the queries of the store; what is in the journal waits for
nobody."""
