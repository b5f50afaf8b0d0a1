"""The engines, each with the hand that writes to it below the contract."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from redis import Redis

from tests.servers.mysql_client import query
from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.mysql import site as mysql
from tests.stores.postgres import site as postgres
from windlass.core.ids import new_id
from windlass.stores.redis.keys import SHARDS, slot_of, tags
from windlass.stores.redis.record import HEAD_SIZE

Poison = Callable[[Mapping[str, str]], None]
"""Does to each of these jobs, by id, what is said of it."""


@dataclass(frozen=True)
class Engine:
    """A store at a URL, and how its jobs are harmed there."""

    url: str
    deadly: Sequence[str]
    """what makes a job one that no worker can run"""
    harmless: Sequence[str]
    """what a worker makes the best of"""
    hiding: Sequence[str]
    """what takes a job out of every list: it is left alone, and `doctor` tells of it"""
    poison: Poison


DEADLY = ["spec = {noise}", "spec = {nothing}"]
HARMLESS = [
    "error = '{{'",
    "progress = '[]'",
    "mail = {noise}",
    "checkpoint = {noise}",
    "awaits = 'nobody'",
    "attempt = 2000000000",
    "attempt = -5",
    "fence = 9000000000000000000",
    "keep = -1",
    "rank = 30000",
    "rank = -30000",
    "place = -9000000000000000000",
    "created_at = -9000000000000000000",
    "due = -9000000000000000000",
    "started_at = -1",
    "worker = 'ghost'",
    "lease_until = 1",
    "lane = 'ghost'",
    "grp = 'ghost'",
]
HIDING = ["state = 'bogus'", "state = ''"]

# SQLite takes anything in any column.
NUMBERS = "rank place due attempt fence keep created_at started_at lease_until slot"
TEXTS = "worker unique_key error progress awaits lane grp"
BYTES = "result checkpoint mail"
VALUES = ["'abc'", "x'c1ff00'", "1.5", "9e300", "CAST(x'ff' AS TEXT)", "''"]
MISTYPED = [
    f"{column} = {value}"
    for column in f"{NUMBERS} {TEXTS} {BYTES}".split()
    for value in VALUES
    if (column, value) != ("slot", "1.5")
]
MISTYPED_SPECS = [f"spec = {value}" for value in VALUES]


def sqlite_engine(request: pytest.FixtureRequest) -> Engine:
    path: Path = request.getfixturevalue("tmp_path") / "jobs.db"

    def run(statements: Sequence[str]) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            for statement in statements:
                raw.execute(statement)

    poison = sql_poison(run, "windlass_jobs", "x'c1ff00'", "x''")
    return Engine(
        f"sqlite:///{path}",
        [*DEADLY, *MISTYPED_SPECS],
        [*HARMLESS, *MISTYPED],
        [*HIDING, "state = x'c1ff00'"],
        poison,
    )


def postgres_engine(request: pytest.FixtureRequest) -> Engine:
    server: Server = request.getfixturevalue("postgres_server")
    url = postgres.fresh(server.url)

    def run(statements: Sequence[str]) -> None:
        with psycopg.connect(server.url, autocommit=True) as raw:
            for statement in statements:
                raw.execute(statement.encode())

    table = f"{postgres.schema_of(url)}.windlass_jobs"
    return Engine(url, DEADLY, HARMLESS, HIDING, sql_poison(run, table, "'\\xc1ff00'", "''"))


def mariadb_engine(request: pytest.FixtureRequest) -> Engine:
    server: Server = request.getfixturevalue("mariadb_server")
    url = mysql.fresh(server.url)
    # Strict, it would refuse a state that there is not; else it writes an empty one.
    poison = sql_poison(
        lambda statements: query(server.url, "SET SESSION sql_mode = ''", *statements),
        mysql.named(url, "jobs"),
        "x'c1ff00'",
        "x''",
    )
    return Engine(url, DEADLY, HARMLESS, HIDING, poison)


def sql_poison(
    run: Callable[[Sequence[str]], object], table: str, noise: str, nothing: str
) -> Poison:
    def poison(harms: Mapping[str, str]) -> None:
        words = {"noise": noise, "nothing": nothing}
        run(
            [
                f"UPDATE {table} SET {harm.format(**words)} WHERE id = '{id}'"
                for id, harm in harms.items()
            ]
        )

    return poison


NOISE = bytes(range(200, 256))
RECORDS: dict[str, Callable[[bytes], bytes | None]] = {
    "nothing": lambda record: b"",
    "half a head": lambda record: record[:5],
    "a head alone": lambda record: record[:HEAD_SIZE],
    "noise": lambda record: NOISE,
    "noise for a spec": lambda record: record[:HEAD_SIZE] + NOISE,
    "another state": lambda record: record[:16] + b"\xff" + record[17:],
    "a longer queue": lambda record: record[:24] + b"\xff" + record[25:],
    "not there": lambda record: None,
}


def redis_engine(request: pytest.FixtureRequest) -> Engine:
    server: Server = request.getfixturevalue("redis_server")
    space = new_id()

    def poison(harms: Mapping[str, str]) -> None:
        with Redis(port=server.port) as redis:
            assert rewrite(redis, f"{space}:{{0}}:jobs", harms) == len(harms)

    return Engine(f"{server.url}?namespace={space}", list(RECORDS), [], [], poison)


def cluster_engine(request: pytest.FixtureRequest) -> Engine:
    cluster: Cluster = request.getfixturevalue("redis_cluster")
    space = new_id()

    def poison(harms: Mapping[str, str]) -> None:
        done = 0
        for tag in tags(SHARDS):
            with Redis(port=cluster.master_of(slot_of(tag)).port) as redis:
                done += rewrite(redis, f"{space}:{{{tag}}}:jobs", harms)
        assert done == len(harms)

    return Engine(f"{cluster.url}?namespace={space}", list(RECORDS), [], [], poison)


def rewrite(redis: Redis, key: str, harms: Mapping[str, str]) -> int:
    """Write over those of the records that are there; how many it was."""
    done = 0
    for id, harm in harms.items():
        record = redis.hget(key, id)
        if isinstance(record, bytes):
            done += 1
            changed = RECORDS[harm](record)
            if changed is None:
                redis.hdel(key, id)
            else:
                redis.hset(key, id, changed)
    return done


ENGINES: Mapping[str, Callable[[pytest.FixtureRequest], Engine]] = {
    "sqlite": sqlite_engine,
    "postgres": postgres_engine,
    "mariadb": mariadb_engine,
    "redis": redis_engine,
    "cluster": cluster_engine,
}
