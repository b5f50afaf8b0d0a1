"""Searching history: a page looks at a bounded number of jobs, however few of them match.

The first query finds the edge: the last job that this page may look at. The second one lists
what matches on the way there. Both go along one index, of the order asked for; newest first
and oldest first, that of the task, the queue or the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..core.model import Job, Page
from ..stores.contract import PAGE_BYTES
from ..stores.sql.operation import Operation, Row, Statement
from .prune import END_OF_TIME
from .query import Attempt, Cursor, HistoryQuery, Sort, decode_cursor
from .record import pattern, searchable, to_attempt, to_job

WINDOW: Final = 2_000
"""The most jobs that one page looks at."""

FIRST: Final = 20
"""So many jobs are read before it is known how large they are."""

MOST_ATTEMPTS: Final = 1_000

COLUMNS: Final = {
    Sort.FINISHED: "ended_at",
    Sort.CREATED: "created_at",
    Sort.DURATION: "duration",
    Sort.ATTEMPTS: "attempt",
}
SCOPES: Final = ("", "task", "queue", "state")
"""What a listing by time can be narrowed to by an index."""

Span = dict[str, Any]
"""Where a listing begins, exclusively, and where it ends."""


def find(query: HistoryQuery) -> Operation[Page]:
    cursor = decode_cursor(query)
    name = f"{_scope(query)}_{query.sort.value}_{'up' if query.ascending else 'down'}"
    span = _span(query, cursor)
    scope = {"task": query.task, "queue": query.queue, "state": _only_state(query)}
    bound = {"skip": WINDOW - 1, "window": WINDOW}
    edge = yield Statement(f"edge_{name}", {**span, **_texts(scope), **bound})
    if edge:
        span["stop"], span["last"] = edge[0]
    filters = _filters(query)
    found, more = yield from _rows(f"find_{name}", {**span, **filters}, query.limit)
    jobs = [to_job(row[1:]) for row in found]
    if more:
        return Page(jobs, _cursor(query, found[-1][:2]))
    return Page(jobs, _cursor(query, edge[0]) if edge else None)


def _rows(name: str, params: Span, limit: int) -> Operation[tuple[list[Row], bool]]:
    """The rows of a page, and whether there are more: it ends behind that which fills it.

    A few first, and then no more at once than are expected to fill it.
    """
    rows: list[Row] = []
    size, most = 0, FIRST
    while True:
        # One more than there is room for tells whether there is more.
        most = min(most, limit - len(rows)) + 1
        found = yield Statement(name, {**params, "limit": most})
        for place, row in enumerate(found[: most - 1], 1):
            rows.append(row)
            size += len(row[-1])
            if size >= PAGE_BYTES:
                return rows, len(found) > place
        if len(found) < most or len(rows) == limit:
            return rows, len(found) == most
        params = {**params, "key": rows[-1][0], "id": rows[-1][1]}
        most = (PAGE_BYTES - size) // (size // len(rows) + 1) + 1


def get(id: str) -> Operation[Job | None]:
    rows = yield Statement("get", {"id": id})
    return to_job(rows[0]) if rows else None


def attempts(id: str) -> Operation[Sequence[Attempt]]:
    """The last ones of a job, oldest first."""
    rows = yield Statement("attempts", {"id": id, "limit": MOST_ATTEMPTS})
    return [to_attempt(row) for row in reversed(rows)]


def _scope(query: HistoryQuery) -> str:
    if query.sort is not Sort.FINISHED:
        return ""
    if query.task is not None:
        return "task"
    if query.queue is not None:
        return "queue"
    return "state" if len(query.wanted) == 1 else ""


def _only_state(query: HistoryQuery) -> str | None:
    return next(iter(query.wanted)).value if len(query.wanted) == 1 else None


def _span(query: HistoryQuery, cursor: Cursor | None) -> Span:
    by_time = query.sort is Sort.FINISHED
    since = query.since if by_time and query.since is not None else -END_OF_TIME
    until = query.until if by_time and query.until is not None else END_OF_TIME
    begin, end = (since, until) if query.ascending else (until, since)
    key, id = (cursor.key, cursor.id) if cursor else (begin, "")
    return {"key": key, "id": id, "stop": end, "last": ""}


def _filters(query: HistoryQuery) -> Mapping[str, Any]:
    """Each has a value that lets everything pass: engines do not know the type of a NULL."""
    return {
        **_texts({"task": query.task, "queue": query.queue}),
        "states": " ".join(sorted(state.value for state in query.wanted)),
        "state": _only_state(query) or "",
        "since": -END_OF_TIME if query.since is None else query.since,
        "until": END_OF_TIME if query.until is None else query.until,
        "labels": pattern(query.labels),
        "error": "" if query.error is None else searchable(query.error),
        "min_duration": query.min_duration or 0,
        "max_duration": END_OF_TIME if query.max_duration is None else query.max_duration,
    }


def _texts(given: Mapping[str, str | None]) -> dict[str, str]:
    return {name: text or "" for name, text in given.items()}


def _cursor(query: HistoryQuery, place: Row) -> str:
    key, id = place
    return Cursor(query.sort, query.ascending, key, id).encode()


def variants(queries: Mapping[str, str]) -> Mapping[str, str]:
    """The queries of history, with `edge` and `find` once for each order and scope."""
    made = {name: text for name, text in queries.items() if name not in PATTERNS}
    for template in ("edge", "find"):
        for name, marks in _orders():
            text = queries[template].replace("/*filters*/", queries["filters"])
            for mark, meaning in marks.items():
                text = text.replace(f"/*{mark}*/", meaning)
            made[f"{template}_{name}"] = text
    return made


PATTERNS: Final = ("edge", "find", "filters")
"""Queries that others are made of."""


def _orders() -> Iterator[tuple[str, Mapping[str, str]]]:
    for sort, column in COLUMNS.items():
        for scope in SCOPES if sort is Sort.FINISHED else ("",):
            where = f"{scope} = :{scope} AND" if scope else ""
            for way, marks in WAYS.items():
                yield f"{scope}_{sort.value}_{way}", {"by": column, "scope": where, **marks}


WAYS: Final = {
    "down": {"past": "<", "short": ">", "order": "DESC"},
    "up": {"past": ">", "short": "<", "order": "ASC"},
}
