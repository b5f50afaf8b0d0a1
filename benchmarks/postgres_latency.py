"""How long a job waits on PostgreSQL for an idle worker of another process."""

from __future__ import annotations

from collections.abc import Iterator

from tests.servers import pgbouncer, postgres

from .latency import measure, shown
from .table import Goal, Line


def lines() -> Iterator[Line]:
    with postgres.serve() as server:
        yield from shown("postgres: idle latency", measure(server.url), Goal("at most", 10))
        with pgbouncer.serve(server) as pooler:
            yield from shown("postgres: idle latency behind PgBouncer", measure(pooler.url))
