"""The columns of jobs as MySQL gives them: names are bytes there, and texts here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..sql.rows import CLAIM_COLUMNS, COLUMNS, LARGEST_READ, LOCK_COLUMNS, SPECIAL

_NAMES: Final = frozenset({"id", "queue", "unique_key"})
_ONLY_FINISHED: Final = frozenset({"finished_at", "result"})
_WAITS_FOR: Final = (
    "CASE state WHEN 'blocked' THEN (SELECT JSON_ARRAYAGG(CONVERT(e.parent USING utf8mb4)) "
    "FROM windlass_edges AS e WHERE e.child = id) END"
)


_SMALL_SPEC: Final = f"CASE WHEN LENGTH(spec) <= {LARGEST_READ} THEN spec END"


def _listed(columns: Iterable[str], missing: frozenset[str] = frozenset()) -> str:
    return ", ".join("NULL" if name in missing else _expression(name) for name in columns)


def _expression(name: str) -> str:
    if name in _NAMES:
        return f"CONVERT({name} USING utf8mb4)"
    return {"rank": "`rank`", "waits_for": _WAITS_FOR, "special": SPECIAL}.get(name, name)


def _finished() -> str:
    """A finished job has no place, lease or wait; among others of its time it stands by number."""
    named = [{"place": "number"}.get(name, name) for name in COLUMNS]
    return _listed(named, frozenset({"lease_until", "waits_for", "awaits"}))


JOB_COLUMNS: Final = {
    "/*columns*/": _listed(COLUMNS, _ONLY_FINISHED),
    "/*finished_columns*/": _finished(),
    "/*journal_columns*/": _listed(COLUMNS, frozenset({"waits_for"})),
    "/*claim_columns*/": _listed({"spec": _SMALL_SPEC}.get(name, name) for name in CLAIM_COLUMNS),
    "/*lock_columns*/": _listed(LOCK_COLUMNS),
    "/*finished_lock_columns*/": _listed(LOCK_COLUMNS, frozenset({"slot", "special"})),
    "/*special*/": SPECIAL,
}
"""What stands for lists of columns in the queries of the store."""
