"""A private Redis for one benchmark, and what it tells of itself.

It is started the way the tests start theirs: that finds the program, gives up root, and ends
the server even if the benchmark is killed. A second way would have to learn all of it again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

from redis import Redis

from tests.servers.redis import serve
from windlass.stores.redis.scripts import script

SLOW = 100
"""Microseconds from which on SLOWLOG notes a call."""

NOTED = 100_000
"""How many calls SLOWLOG holds: all that one benchmark makes."""


@contextmanager
def serving() -> Iterator[str]:
    """The URL of a Redis that has nothing in it.

    It writes no file: what is compared is work, and a disk that others use would blur it.
    """
    log = logging.getLogger("windlass")
    log.addFilter(_is_no_warning)
    try:
        with serve("--appendonly no") as server:
            yield server.url
    finally:
        log.removeFilter(_is_no_warning)


def _is_no_warning(record: logging.LogRecord) -> bool:
    """Every store that is opened here says so, rightly; the table would drown in it."""
    return "neither an append-only file" not in record.getMessage()


def clear(url: str) -> None:
    """Remove everything, and return when that is done: Redis must not do it while measured."""
    with Redis.from_url(url) as redis:
        redis.flushall(asynchronous=False)


def processor(redis: Redis) -> float:
    """Seconds of processor time that Redis has used."""
    said = redis.info("cpu")
    return float(said["used_cpu_user"]) + float(said["used_cpu_sys"])


def memory(url: str) -> int:
    """Bytes that Redis has given out."""
    with Redis.from_url(url) as redis:
        return int(redis.info("memory")["used_memory"])


def entries(url: str) -> int:
    """How many things Redis holds: the members of every collection, and each plain key.

    DBSIZE would not see a hash that grows. What goes by itself is left out.
    """
    with Redis.from_url(url) as redis:
        stay = [key for key in redis.scan_iter(count=1000) if redis.ttl(key) == -1]
        return sum(_size(redis, key) for key in stay)


def note_slow(url: str) -> None:
    """Let SLOWLOG note calls from now on; only where that is measured, for it costs."""
    with Redis.from_url(url) as redis:
        redis.config_set("slowlog-log-slower-than", SLOW)
        redis.config_set("slowlog-max-len", NOTED)
        redis.slowlog_reset()


def slowest(url: str) -> tuple[float, str]:
    """Milliseconds and name of the slowest script since `note_slow`."""
    with Redis.from_url(url) as redis:
        calls: list[dict[str, Any]] = redis.slowlog_get(NOTED)
    took: dict[bytes, int] = {}
    for call in calls:
        command, _, rest = call["command"].partition(b" ")
        if command.upper() == b"EVALSHA":
            sha = rest.partition(b" ")[0]
            took[sha] = max(took.get(sha, 0), int(call["duration"]))
    if not took:
        raise RuntimeError("SLOWLOG has noted no script: nothing was measured.")
    sha = max(took, key=lambda sha: took[sha])
    return took[sha] / 1000, _names()[sha]


def _names() -> dict[bytes, str]:
    folder = files("windlass.stores.redis") / "lua"
    names = [file.name.removesuffix(".lua") for file in folder.iterdir() if file.is_file()]
    return {script(name).sha: name for name in names}


def _size(redis: Redis, key: Any) -> int:
    kind = redis.type(key)
    name = kind.decode() if isinstance(kind, bytes) else kind
    count = {
        "hash": redis.hlen,
        "list": redis.llen,
        "set": redis.scard,
        "zset": redis.zcard,
        "stream": redis.xlen,
    }.get(name)
    return 1 if count is None else int(count(key))
