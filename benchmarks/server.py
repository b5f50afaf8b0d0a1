"""How quickly the HTTP API takes jobs, one in a request and a hundred."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from tempfile import TemporaryDirectory

import msgspec

from .process import isolated
from .redis_server import serving
from .server_load import Answered, Target, load, post
from .server_process import Served, key_for, plain_server, windlass_server
from .table import Goal, Line, paired

CONNECTIONS = 48
SECONDS = 2.0
ROUNDS = 5
BATCH = 100

JOB = {"task": "nothing", "kwargs": {"user_id": 123, "email": "a@example.com"}}
ONE = msgspec.json.encode(JOB)
MANY = msgspec.json.encode({"jobs": [JOB] * BATCH})


def lines() -> Iterator[Line]:
    with serving() as url:
        yield from _lines("redis", url)
    with TemporaryDirectory() as folder:
        yield from _lines("sqlite", f"sqlite:///{folder}/bench.db")


def _lines(store: str, url: str) -> Iterator[Line]:
    key = key_for(url)
    with (
        windlass_server(url) as ours,
        windlass_server(url, "--no-access-log") as silent,
        plain_server() as plain,
    ):
        targets = [
            _single(ours, key),
            _single(silent, key),
            _single(plain),
            Target(ours.port, ours.pid, post("/api/v1/jobs/batch", MANY, key)),
        ]
        rounds = [
            [isolated(load, each, SECONDS, CONNECTIONS) for each in targets] for _ in range(ROUNDS)
        ]
    single, quiet, bare, batch = zip(*rounds, strict=True)
    yield _compared(f"{store}: POST /jobs", single, bare)
    yield _compared(f"{store}: POST /jobs, no access log", quiet, bare)
    jobs = [(BATCH * many.rate, one.rate) for many, one in zip(batch, single, strict=True)]
    yield paired(
        f"{store}: POST /jobs/batch of {BATCH}", jobs, ("jobs", "single"), Goal("at least", 20)
    )


def _single(served: Served, key: str = "") -> Target:
    return Target(served.port, served.pid, post("/api/v1/jobs", ONE, key))


def _compared(name: str, ours: tuple[Answered, ...], bare: tuple[Answered, ...]) -> Line:
    rates = [(a.rate, b.rate) for a, b in zip(ours, bare, strict=True)]
    line = paired(name, rates, ("windlass", "bare"), Goal("at least", 0.5))
    costs = [median(each.cost for each in answered) for answered in (ours, bare)]
    return line._replace(detail=f"{line.detail}; {costs[0]:.0f} and {costs[1]:.0f} µs for each")
