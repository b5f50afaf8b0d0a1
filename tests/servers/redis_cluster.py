"""A private Redis Cluster.

Full coverage is not required: while the slots of a killed master wait for its replica to
take over, those of the other masters go on.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain

from redis import RedisError

from tests.servers.ports import free_port
from tests.servers.process import wait_until
from tests.servers.redis import serve, tell
from tests.servers.redis_node import Node, myself, view
from tests.servers.server import Server, Unhealthy

SLOTS = 16_384


@dataclass(frozen=True)
class Cluster:
    """Masters with their replicas. Who is which changes with every failover: ask each time."""

    nodes: Sequence[Server]
    masters: int

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def master_of(self, slot: int) -> Server:
        """The server that owns this slot, even if it is down and nobody has taken over yet."""
        for node in self._view():
            if any(slot in slots for slots in node.slots):
                return self._server(node)
        raise Unhealthy(f"no master has slot {slot}")

    def slots_with(self, slot: int) -> frozenset[int]:
        """All slots of the server that owns this one."""
        port = self.master_of(slot).port
        owner = next(node for node in self._view() if node.port == port)
        return frozenset(chain(*owner.slots))

    def replica_of(self, server: Server) -> Server:
        """A running replica of `server`."""
        nodes = self._view()
        id = next(node.id for node in nodes if node.port == server.port)
        for node in nodes:
            if node.master == id and node.is_well:
                return self._server(node)
        raise Unhealthy(f"the server on port {server.port} has no replica")

    def failover(self, replica: Server) -> None:
        """Let `replica` and its master change places in good order."""
        tell(replica.port, "CLUSTER", "FAILOVER")
        if not wait_until(lambda: "master" in myself(replica.port).flags):
            raise Unhealthy(f"the replica on port {replica.port} was not promoted")
        self.heal()

    def heal(self) -> None:
        """Start what is down and return once all is well."""
        for node in self.nodes:
            if not node.is_running:
                node.start()
        if not wait_until(self.is_healthy):
            raise Unhealthy("the cluster did not recover")

    def flush(self) -> None:
        """Remove every key."""
        for node in self._view():
            if node.slots:
                tell(node.port, "FLUSHALL")

    def is_healthy(self) -> bool:
        """Whether every node is there and sees all others well, and every replica is in sync."""
        try:
            # One after the other: the first that is not well spares asking the rest.
            return all(self._is_whole(view(node.port)) for node in self.nodes) and all(
                map(_is_ready, self.nodes)
            )
        except RedisError:
            return False

    def _is_whole(self, nodes: Sequence[Node]) -> bool:
        masters = [node for node in nodes if node.slots]
        replicas = [node for node in nodes if node.master in {each.id for each in masters}]
        covered = sum(len(slots) for node in masters for slots in node.slots)
        return (
            all(node.is_well for node in nodes)
            and covered == SLOTS
            and len(masters) == self.masters
            and len(masters) + len(replicas) == len(self.nodes)
        )

    def _view(self) -> Sequence[Node]:
        """As the first node that runs sees the cluster."""
        for node in self.nodes:
            if node.is_running:
                return view(node.port)
        raise Unhealthy("no node of the cluster runs")

    def _server(self, node: Node) -> Server:
        return next(server for server in self.nodes if server.port == node.port)


@contextmanager
def serve_cluster(masters: int = 3, replicas: int = 1) -> Iterator[Cluster]:
    """`masters` that share the slots evenly, each with as many `replicas`."""
    with ExitStack() as stack:
        nodes = [stack.enter_context(_serve_node()) for _ in range(masters * (1 + replicas))]
        _share_slots(nodes[:masters])
        _meet(nodes)
        _replicate(nodes, masters)
        cluster = Cluster(nodes, masters)
        cluster.heal()
        yield cluster


@contextmanager
def _serve_node() -> Iterator[Server]:
    with serve(
        "--cluster-enabled yes",
        f"--cluster-port {free_port()}",
        "--cluster-announce-ip 127.0.0.1",
        "--cluster-node-timeout 1000",
        "--cluster-require-full-coverage no",
        "--cluster-allow-replica-migration no",
        # However long a replica was cut off, it may take over: there is no other.
        "--cluster-replica-validity-factor 0",
        "--repl-diskless-sync-delay 0",
        "--shutdown-timeout 0",
    ) as server:
        yield server


def _share_slots(masters: Sequence[Server]) -> None:
    for number, node in enumerate(masters):
        first, end = (n * SLOTS // len(masters) for n in (number, number + 1))
        tell(node.port, "CLUSTER", "ADDSLOTSRANGE", first, end - 1)


def _meet(nodes: Sequence[Server]) -> None:
    for number, node in enumerate(nodes):
        # Two nodes of one epoch would have to settle first whose word counts.
        tell(node.port, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
    # Everybody meets everybody: gossip alone takes seconds to spread the word.
    for number, node in enumerate(nodes):
        bus = myself(node.port).bus
        for other in nodes[:number]:
            tell(other.port, "CLUSTER", "MEET", "127.0.0.1", node.port, bus)
    if not wait_until(lambda: all(_knows(node, len(nodes)) for node in nodes)):
        raise Unhealthy("the nodes did not meet")


def _replicate(nodes: Sequence[Server], masters: int) -> None:
    for number, node in enumerate(nodes[masters:]):
        tell(node.port, "CLUSTER", "REPLICATE", myself(nodes[number % masters].port).id)


def _knows(node: Server, count: int) -> bool:
    nodes = view(node.port)
    return len(nodes) == count and all(each.is_well for each in nodes)


def _is_ready(node: Server) -> bool:
    """Whether a master serves or a replica is in sync."""
    replication = tell(node.port, "INFO", "replication")
    if replication["role"] == "slave":
        return bool(replication["master_link_status"] == "up")
    return "cluster_state:ok" in str(tell(node.port, "CLUSTER", "INFO"))
