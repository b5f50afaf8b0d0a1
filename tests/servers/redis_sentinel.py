"""A private Redis with a replica, and three Sentinels that watch over both."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from redis import RedisError

from tests.servers.account import account, temporary_folder
from tests.servers.binaries import binary
from tests.servers.ports import ask, free_port
from tests.servers.process import wait_until
from tests.servers.redis import serve, tell
from tests.servers.server import Server, Unhealthy

NAME = "windlass"
QUORUM = 2


@dataclass(frozen=True)
class Sentinels:
    """`servers` hold the data. Which of them is the master changes: ask each time."""

    servers: Sequence[Server]
    sentinels: Sequence[Server]

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://{hosts}/{NAME}"

    def master(self) -> Server:
        """The server that most Sentinels name as the master, even if it is down."""
        votes = Counter(_master_port(each.port) for each in self.sentinels if each.is_running)
        port, _ = votes.most_common(1)[0]
        return next(server for server in self.servers if server.port == port)

    def failover(self) -> None:
        """Let the Sentinels change master and replica in good order."""
        before = self.master()
        tell(self.sentinels[0].port, "SENTINEL", "FAILOVER", NAME)
        if not wait_until(lambda: self.master() is not before):
            raise Unhealthy("the Sentinels did not promote the replica")
        self.heal()

    def heal(self) -> None:
        """Start what is down and return once all is well."""
        for each in (*self.sentinels, *self.servers):
            if not each.is_running:
                each.start()
        if not wait_until(self._settles):
            raise Unhealthy("the Sentinels did not recover")

    def flush(self) -> None:
        """Remove every key."""
        tell(self.master().port, "FLUSHALL")

    def is_healthy(self) -> bool:
        """Whether all Sentinels name one master, know of everybody, and the replica is in sync."""
        try:
            named = {_master_port(each.port) for each in self.sentinels}
            return (
                named == {self.master().port}
                and all(map(_follows, self._replicas()))
                and tell(self.master().port, "ROLE")[0] == "master"
                and all(self._knows_all(each.port) for each in self.sentinels)
            )
        except RedisError:
            return False

    def _settles(self) -> bool:
        """Do at once what the Sentinels would do after 8 s: set a returned server to follow."""
        if self.is_healthy():
            return True
        with suppress(RedisError):
            _appoint(self.master(), self._replicas())
        return False

    def _replicas(self) -> Sequence[Server]:
        master = self.master()
        return [server for server in self.servers if server is not master]

    def _knows_all(self, port: int) -> bool:
        facts = _pairs(tell(port, "SENTINEL", "MASTER", NAME))
        replicas = tell(port, "SENTINEL", "REPLICAS", NAME)
        return (
            facts["flags"] == "master"
            and int(facts["num-other-sentinels"]) == len(self.sentinels) - 1
            and {_pairs(replica)["flags"] for replica in replicas} == {"slave"}
            and len(replicas) == len(self.servers) - 1
        )


@contextmanager
def serve_sentinel() -> Iterator[Sentinels]:
    """A master, a replica and three Sentinels that find a dead master within a second."""
    with ExitStack() as stack:
        options = ("--repl-diskless-sync-delay 0", "--shutdown-timeout 0")
        servers = [stack.enter_context(serve(*options)) for _ in range(2)]
        _appoint(servers[0], servers[1:])
        if not wait_until(lambda: all(map(_follows, servers[1:]))):
            raise Unhealthy("the replica does not follow")
        sentinels = [stack.enter_context(_serve_sentinel(servers[0])) for _ in range(3)]
        group = Sentinels(servers, sentinels)
        group.heal()
        yield group


@contextmanager
def _serve_sentinel(master: Server) -> Iterator[Server]:
    with temporary_folder("sentinel") as folder:
        port, settings = free_port(), folder / "sentinel.conf"
        settings.write_text(
            f"port {port}\n"
            "bind 127.0.0.1\n"
            f"dir {folder}\n"
            f"sentinel monitor {NAME} 127.0.0.1 {master.port} {QUORUM}\n"
            f"sentinel down-after-milliseconds {NAME} 500\n"
            f"sentinel failover-timeout {NAME} 3000\n"
        )
        # It keeps what it learns in this file and refuses to run if it could not.
        os.chown(settings, account().pw_uid, account().pw_gid)
        with Server(
            folder=folder,
            port=port,
            url=f"redis://127.0.0.1:{port}",
            command=[binary("redis-server"), str(settings), "--sentinel"],
            answers=lambda: ask(port, b"PING\r\n").startswith(b"+PONG"),
        ) as server:
            yield server


def _appoint(master: Server, replicas: Sequence[Server]) -> None:
    """Give each server its role, unless it has it: following anew would start over."""
    if tell(master.port, "ROLE")[0] != "master":
        tell(master.port, "REPLICAOF", "NO", "ONE")
    for replica in replicas:
        role, *rest = tell(replica.port, "ROLE")
        if role == "master" or rest[1] != master.port:
            tell(replica.port, "REPLICAOF", "127.0.0.1", master.port)


def _follows(replica: Server) -> bool:
    role, *rest = tell(replica.port, "ROLE")
    return bool(role == "slave" and rest[2] == "connected")


def _master_port(sentinel: int) -> int:
    _, port = tell(sentinel, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)
    return int(port)


def _pairs(answer: Sequence[str]) -> dict[str, str]:
    return dict(zip(answer[::2], answer[1::2], strict=True))
