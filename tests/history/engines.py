"""The engines that history can be kept on, and lines of a journal to keep there."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.servers.mysql_client import fresh_database
from tests.servers.server import Server
from windlass.core.model import Entry, Failure, Job, Spec
from windlass.core.states import FINISHED, State
from windlass.testing.clock import START

ENGINES = ("sqlite", "postgres", "mariadb")

_serial = count(1)


def fresh_url(engine: str, request: pytest.FixtureRequest, path: Path) -> str:
    """A database of this engine without anything in it."""
    if engine == "sqlite":
        return f"sqlite:///{path}/history-{next(_serial)}.db"
    server: Server = request.getfixturevalue(f"{engine}_server")
    if engine == "mariadb":
        return fresh_database(server.url, "history")
    return f"{server.url}?schema=history_{next(_serial)}"


def line(
    id: str,
    state: State = State.COMPLETED,
    *,
    at: int = 0,
    took: int = 10,
    created: int = -1_000,
    spec: Spec | None = None,
    error: Failure | None = None,
    ran: bool = True,
    **rest: Any,
) -> Entry:
    """A line of a journal; times are counted from the start of the fake clock."""
    moment = START + at
    job = Job(
        id=id,
        spec=spec or Spec("work", b""),
        queue=rest.pop("queue", "default"),
        state=state,
        priority=50,
        created_at=START + created,
        due=START + created,
        attempt=rest.pop("attempt", 1),
        fence=rest.pop("fence", 1),
        worker="w1",
        started_at=moment - took,
        finished_at=moment if state in FINISHED else None,
        error=error,
        **rest,
    )
    return Entry(str(next(_serial)), moment, job, ran)
