"""Queries for the tables of a schema: each name is qualified, for no session is ours to set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from ...limits.fairness import BAND
from ..sql.database import Schema
from ..sql.queries import JOB_COLUMNS, load_queries
from ..sql.rows import COLUMNS, LOCK_COLUMNS

CHANNEL: Final = "windlass"

_OURS: Final = re.compile(r"\bwindlass_\w+")

CAREFUL: Final = "ON CONFLICT DO NOTHING"
"""What an insert of jobs with new ids and without keys does not need, at a fifth of its cost."""

READY: Final = "WHERE state = 'pending' AND queue = a.queue"
OF_LANES: Final = f"""{READY} AND (lane IS NULL OR (queue, lane) IN (
      SELECT * FROM unnest(:lane_queues::text[], :lane_names::text[])))"""
"""What a claim takes; and one that holds the lanes that it knows of, and must not meet others."""

LINE: Final = """SELECT id, lane, fence, octet_length(spec) AS size FROM windlass_jobs
    WHERE state = 'pending' AND queue = a.queue
    ORDER BY rank, place
    LIMIT a.most
    FOR UPDATE SKIP LOCKED"""
RANGES: Final = """unnest(
      :range_queues::text[], :ranks::bigint[], :from_places::bigint[], :to_places::bigint[],
      :to_ranks::bigint[]
    ) AS r (queue, rank, from_place, to_place, to_rank)"""
IN_RANK: Final = "rank = r.rank AND place >= r.from_place AND place < r.to_place"
BETWEEN: Final = "rank > r.rank AND rank < r.to_rank"
PARTS: Final = f"""SELECT j.* FROM {RANGES} CROSS JOIN LATERAL (
      SELECT * FROM (
        {LINE.replace("a.queue", f"a.queue AND {IN_RANK}")}
      ) AS in_rank
      UNION ALL
      SELECT * FROM (
        {LINE.replace("a.queue", f"a.queue AND {BETWEEN}")}
      ) AS between_ranks
    ) AS j
    WHERE r.queue = a.queue
    LIMIT a.most"""
"""What a claim takes; and one that looks only at parts of the line, see marks.py. A comparison of
rows would not do: the server does not stop where such an upper bound is reached."""

ANY: Final = "SELECT FROM windlass_jobs AS j WHERE j.state = 'pending' AND j.queue = w.queue"
ANY_IN_PARTS: Final = f"""SELECT FROM {RANGES} WHERE r.queue = w.queue AND (
      EXISTS ({ANY} AND {IN_RANK}) OR EXISTS ({ANY} AND {BETWEEN})
    )"""
"""Whether a queue has pending jobs; and whether these parts of its line have."""

PICKED: Final = "picked AS MATERIALIZED ("
COUNTED: Final = "), counted AS MATERIALIZED ("
WITHIN: Final = f"""), {PICKED}
  SELECT turn, id, lane, fence, size FROM (
    SELECT f.*, row_number() OVER line AS nth, sum(size) OVER line AS total
    FROM found AS f WINDOW line AS (ORDER BY turn, rank, place)
  ) AS f
  WHERE nth = 1 OR total <= :most_bytes::bigint
{COUNTED}"""
"""A claim that gives as many as go into its bytes, which costs a sort; the plain one gives all that
it has found, or nothing."""

WAITS_FOR: Final = (
    "CASE WHEN state = 'blocked' THEN "
    "(SELECT json_agg(e.parent)::text FROM windlass_edges AS e WHERE e.child = id) END"
)
LIVE: Final = {"finished_at": "NULL::bigint", "number": "0", "waits_for": WAITS_FOR}
JOURNAL: Final = {"lease_until": "NULL::bigint", "number": "0", "waits_for": "NULL::text"}
FINISHED: Final = {**JOURNAL, "awaits": "NULL::text"}
FREE: Final = {"slot": "NULL::smallint", "special": "NULL::bytea"}
"""What stands for columns that one of the tables does not have."""

FAR: Final = 2**62 - BAND
"""What is added to the places of groups, for those of other jobs grow beyond where they begin."""

JOBS: Final = {
    **JOB_COLUMNS,
    "/*band*/": str(FAR),
    "/*columns*/": ", ".join(LIVE.get(name, name) for name in COLUMNS),
    "/*finished_columns*/": ", ".join(FINISHED.get(name, name) for name in COLUMNS),
    "/*finished_lock_columns*/": ", ".join(FREE.get(name, name) for name in LOCK_COLUMNS),
    "/*journal_columns*/": ", ".join(JOURNAL.get(name, name) for name in COLUMNS),
}


def load(schema: Schema, name: str | None) -> Mapping[str, str]:
    """All queries; of tables in the schema `name`, or where the user's search_path leads."""
    queries = dict(schema.variants(load_queries(*schema.packages, columns=JOBS)))
    if "insert" in queries:
        queries["insert_fresh"] = queries["insert"].replace(CAREFUL, "")
        queries["claim_marked"] = queries["claim"].replace(LINE, PARTS)
        queries["ready_marked"] = queries["ready"].replace(ANY, ANY_IN_PARTS)
        queries["claim_within"] = _within(queries["claim"])
        queries["claim_of_lanes"] = queries["claim_within"].replace(READY, OF_LANES)
    if name is None:
        return queries
    return {key: _qualified(sql, name) for key, sql in queries.items()}


def _within(claim: str) -> str:
    found = claim.replace(PICKED, "found AS MATERIALIZED (").replace(COUNTED, WITHIN)
    found = found.replace("j.size\n", "j.size, j.rank, j.place\n")
    return found.replace("AS size", "AS size, rank, place")


def channel(name: str | None) -> str:
    """Where it is told that queues of this schema may have work."""
    return CHANNEL if name is None else f"{CHANNEL}.{name}"


def qualified(sql: str, name: str | None) -> str:
    """A statement for the tables of a schema, if it is not where the `search_path` leads."""
    return sql if name is None else _qualified(sql, name)


@lru_cache(maxsize=1024)
def _qualified(sql: str, name: str) -> str:
    sql = _OURS.sub(lambda found: f'"{name}".{found.group()}', sql)
    return sql.replace(f"'{CHANNEL}'", f"'{channel(name)}'")
