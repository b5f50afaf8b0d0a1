"""Redis in all its forms: other programs, TLS, Cluster and Sentinel."""

import os
import sys
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError

from tests.servers import binaries, redis
from tests.servers.certificates import Tls
from tests.servers.ports import ask
from tests.servers.process import wait_until
from tests.servers.redis import tell
from tests.servers.redis_cluster import SLOTS, Cluster
from tests.servers.redis_sentinel import Sentinels
from tests.servers.redis_tls import QUOTED_PASSWORD, USER
from tests.servers.server import Server


def test_the_main_redis_is_the_systems_and_speaks_version_7(redis_server: Server) -> None:
    assert str(tell(redis_server.port, "INFO", "server")["redis_version"]).startswith("7.")


def test_a_program_of_our_own_python_is_not_taken_for_the_systems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.prefix, 'bin')}{os.pathsep}{os.defpath}")
    assert not binaries.binary("redis-server").startswith(sys.prefix)


def test_the_old_redis_is_version_6_2(redis_old: Server) -> None:
    assert str(tell(redis_old.port, "INFO", "server")["redis_version"]).startswith("6.2.")


def test_valkey_is_valkey(valkey_server: Server) -> None:
    assert tell(valkey_server.port, "INFO", "server")["server_name"] == "valkey"


def test_a_package_without_the_program_is_a_failure_not_a_skip() -> None:
    with (
        pytest.raises(binaries.MissingServer, match="`make test` installs it"),
        redis.serve_packaged("redis-server", "no_such_package"),
    ):
        pass


def test_tls_lets_in_the_user_with_the_password_alone(redis_tls: Tls) -> None:
    url, authority = redis_tls.url, str(redis_tls.certificates.authority)
    with Redis.from_url(url, ssl_ca_certs=authority, decode_responses=True) as client:
        assert client.acl_whoami() == USER
    with (
        Redis.from_url(url.replace(QUOTED_PASSWORD, "wrong"), ssl_ca_certs=authority) as stranger,
        pytest.raises(AuthenticationError),
    ):
        stranger.ping()
    assert redis_tls.server.answers()
    assert not ask(redis_tls.server.port, b"PING\r\n")


def test_a_frozen_server_answers_once_it_is_thawed(redis_server: Server) -> None:
    redis_server.freeze()
    try:
        assert redis_server.is_running
        assert not redis_server.answers()
    finally:
        redis_server.thaw()
    assert wait_until(redis_server.answers)


def test_every_slot_of_the_cluster_has_a_master_with_a_replica(redis_cluster: Cluster) -> None:
    masters = {redis_cluster.master_of(slot).port for slot in range(0, SLOTS, SLOTS // 12)}
    assert len(masters) == 3
    replicas = {
        redis_cluster.replica_of(node).port for node in redis_cluster.nodes if node.port in masters
    }
    assert len(masters | replicas) == 6


def test_a_cluster_changes_master_in_good_order(redis_cluster: Cluster) -> None:
    master = redis_cluster.master_of(0)
    replica = redis_cluster.replica_of(master)
    redis_cluster.failover(replica)
    assert redis_cluster.master_of(0) is replica
    assert redis_cluster.replica_of(replica) is master


def test_a_cluster_survives_the_death_of_a_master(redis_cluster: Cluster) -> None:
    master = redis_cluster.master_of(0)
    replica = redis_cluster.replica_of(master)
    master.kill()
    assert wait_until(lambda: redis_cluster.master_of(0) is replica)
    redis_cluster.heal()
    assert redis_cluster.replica_of(replica) is master
    redis_cluster.flush()


def test_the_sentinels_promote_the_replica_of_a_dead_master(redis_sentinel: Sentinels) -> None:
    master = redis_sentinel.master()
    master.kill()
    assert wait_until(lambda: redis_sentinel.master() is not master)
    redis_sentinel.heal()
    assert tell(redis_sentinel.master().port, "ROLE")[0] == "master"
    assert tell(master.port, "ROLE")[0] == "slave"
    redis_sentinel.flush()


def test_sentinels_change_master_in_good_order(redis_sentinel: Sentinels) -> None:
    master = redis_sentinel.master()
    redis_sentinel.failover()
    assert redis_sentinel.master() is not master
