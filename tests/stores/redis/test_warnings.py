"""A store says so when it is opened on a server that can lose jobs."""

import logging
from collections.abc import Iterator

import pytest

from tests.servers import redis
from tests.servers.process import wait_until
from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.watch import fresh
from windlass.stores.redis.opening import _say_once
from windlass.testing.jobs import claim_all, new_job

VOLATILE = "neither an append-only file nor a replica"
EVICTING = "may evict jobs"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One that keeps nothing, to begin with."""
    with redis.serve("--appendonly no", "--repl-diskless-sync-delay 0") as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_said_yet(caplog: pytest.LogCaptureFixture) -> None:
    _say_once.cache_clear()
    caplog.set_level(logging.WARNING, "windlass")


async def warnings(server: Server | Cluster, caplog: pytest.LogCaptureFixture) -> list[str]:
    async with fresh(server.url):
        pass
    return [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]


async def test_a_server_that_keeps_nothing(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    [said] = await warnings(server, caplog)
    assert VOLATILE in said
    assert "appendonly yes" in said


async def test_it_is_said_once_in_a_process(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    await warnings(server, caplog)
    assert len(await warnings(server, caplog)) == 1


async def test_a_replica_is_no_file(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    with redis.serve(f"--replicaof 127.0.0.1 {server.port}", "--appendonly yes"):
        assert wait_until(lambda: tell(server.port, "INFO")["connected_slaves"] == 1)
        [said] = await warnings(server, caplog)
        assert "no append-only file" in said and "replicas copy that" in said


async def test_a_user_who_may_not_ask_can_open_a_store(
    redis_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    rules = ("on", ">pw", "~*", "resetchannels", "+@all", "-@dangerous")
    tell(redis_server.port, "ACL", "SETUSER", "careful", *rules)
    try:
        url = f"redis://careful:pw@127.0.0.1:{redis_server.port}"
        async with fresh(url) as store:
            # Without the channel nobody is woken, and the job is there all the same.
            [receipt] = await store.insert([new_job("job")])
            assert not receipt.duplicate
            [plain, other] = await store.insert([new_job("one"), new_job("two", priority=7)])
            assert not plain.duplicate and not other.duplicate
            assert len(await claim_all(store)) == 3
    finally:
        tell(redis_server.port, "ACL", "DELUSER", "careful")
    assert any("not known whether" in each for each in caplog.messages)


@pytest.mark.parametrize(
    ("policy", "danger"), [("allkeys-lru", EVICTING), ("volatile-ttl", "jobs are safe")]
)
async def test_a_server_that_throws_keys_away(
    server: Server, policy: str, danger: str, caplog: pytest.LogCaptureFixture
) -> None:
    tell(server.port, "CONFIG", "SET", "maxmemory-policy", policy)
    tell(server.port, "CONFIG", "SET", "maxmemory", "1gb")
    try:
        first, second = await warnings(server, caplog)
    finally:
        tell(server.port, "CONFIG", "SET", "maxmemory", "0")
        tell(server.port, "CONFIG", "SET", "maxmemory-policy", "noeviction")
    assert VOLATILE in first
    assert danger in second
    assert policy in second and "noeviction" in second


async def test_a_limit_without_eviction_is_no_danger(
    redis_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    tell(redis_server.port, "CONFIG", "SET", "maxmemory", "1gb")
    try:
        assert await warnings(redis_server, caplog) == []
    finally:
        tell(redis_server.port, "CONFIG", "SET", "maxmemory", "0")


async def test_no_word_when_all_is_well(
    redis_server: Server, redis_cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    assert await warnings(redis_server, caplog) == []
    assert await warnings(redis_cluster, caplog) == []


async def test_one_master_of_a_cluster_is_enough_to_warn(
    redis_cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    master = redis_cluster.master_of(12_000)
    tell(master.port, "CONFIG", "SET", "maxmemory", "1gb")
    tell(master.port, "CONFIG", "SET", "maxmemory-policy", "allkeys-random")
    try:
        [said] = await warnings(redis_cluster, caplog)
    finally:
        tell(master.port, "CONFIG", "SET", "maxmemory-policy", "noeviction")
        tell(master.port, "CONFIG", "SET", "maxmemory", "0")
    assert EVICTING in said


async def test_other_engines_say_the_same(
    redis_old: Server, valkey_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    for engine in (redis_old, valkey_server):
        assert await warnings(engine, caplog) == []
        tell(engine.port, "CONFIG", "SET", "appendonly", "no")
        try:
            [said] = await warnings(engine, caplog)
            assert VOLATILE in said
        finally:
            tell(engine.port, "CONFIG", "SET", "appendonly", "yes")
            _say_once.cache_clear()
            caplog.clear()
