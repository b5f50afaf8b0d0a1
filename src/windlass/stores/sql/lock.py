"""Jobs held against other writers until the commit."""

from __future__ import annotations

from collections.abc import Iterable

from .operation import Operation, Statement
from .rows import Locked, json_array


def lock(ids: Iterable[str]) -> Operation[list[Locked]]:
    """What there is to know of these jobs. They come in the order asked, each once."""
    wanted = {id: n for n, id in enumerate(dict.fromkeys(ids))}
    if not wanted:
        return []
    rows = yield Statement("lock", {"ids": json_array(list(wanted))})
    return sorted(map(Locked._make, rows), key=lambda job: wanted[job.id])
