"""What a Redis says of itself: the commands it carried out, how long they took, what it keeps."""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from importlib.resources import files
from itertools import count
from typing import Any

from redis import Redis

from tests.servers.redis import tell
from windlass.core.clock import Clock
from windlass.stores.open import open_store
from windlass.stores.redis.scripts import script
from windlass.stores.redis.store import RedisStore

_serial = count()


def fresh_namespace() -> str:
    return f"test-{next(_serial)}"


@asynccontextmanager
async def fresh(url: str, clock: Clock | None = None, **options: str) -> AsyncIterator[RedisStore]:
    """An open store; on data of its own unless a namespace is among the options."""
    given = {"namespace": fresh_namespace(), **options}
    query = "&".join(f"{name}={value}" for name, value in given.items())
    store = open_store(f"{url}?{query}", clock=clock)
    assert isinstance(store, RedisStore)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@contextmanager
def counted(*ports: int) -> Iterator[Counter[str]]:
    """How often each command was carried out in the block, those inside of scripts included."""
    found: Counter[str] = Counter()
    for port in ports:
        tell(port, "CONFIG", "RESETSTAT")
    yield found
    for port in ports:
        for name, stats in tell(port, "INFO", "commandstats").items():
            found[name.removeprefix("cmdstat_")] += stats["calls"]
    for own in ("config|resetstat", "config", "info"):
        found.pop(own, None)


@contextmanager
def timed(port: int) -> Iterator[Mapping[str, list[float]]]:
    """The milliseconds of calls in the block, by script or command; the quickest are left out."""
    found: Mapping[str, list[float]] = defaultdict(list)
    names = {script(name).sha: name for name in script_names()}
    with _raw(port) as server:
        server.config_set("slowlog-max-len", 10_000)
        server.config_set("slowlog-log-slower-than", 100)
        server.slowlog_reset()
        yield found
        entries = server.slowlog_get(10_000)
        server.config_set("slowlog-log-slower-than", -1)
    for entry in entries:
        words = entry["command"].split()
        if words[0] == b"EVALSHA":
            found[names[words[1]]].append(entry["duration"] / 1000)
        elif words[0] in (b"HMGET", b"HSCAN"):
            found[words[0].decode()].append(entry["duration"] / 1000)


def worked(port: int) -> float:
    """The milliseconds of processor time that a server has used so far.

    Unlike the time that calls take, these do not grow when others want the processor as well.
    """
    cpu = tell(port, "INFO", "cpu")
    return 1000 * sum(float(cpu[f"used_cpu_{kind}_main_thread"]) for kind in ("user", "sys"))


def script_names() -> list[str]:
    folder = files("windlass.stores.redis") / "lua"
    return [file.name.removesuffix(".lua") for file in folder.iterdir() if file.name != "shared"]


def contents(port: int, namespace: str) -> dict[bytes, Any]:
    """Every key of a namespace with all that is in it."""
    with _raw(port) as server:
        keys = server.scan_iter(f"{namespace}:*", count=1000)
        return {key: server.dump(key) for key in keys}


def used_memory(port: int) -> int:
    return int(tell(port, "INFO", "memory")["used_memory"])


def _raw(port: int) -> Any:
    return Redis(port=port, socket_timeout=10)
