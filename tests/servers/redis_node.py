"""What the nodes of a Redis Cluster say about each other and about themselves."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.servers.redis import tell


@dataclass(frozen=True)
class Node:
    """One line of CLUSTER NODES: what one node knows of another, or of itself."""

    id: str
    port: int
    bus: int
    flags: frozenset[str]
    master: str
    linked: bool
    slots: tuple[range, ...]

    @property
    def is_well(self) -> bool:
        return self.linked and not self.flags & {"fail", "fail?", "handshake", "noaddr"}


def view(port: int) -> Sequence[Node]:
    """The cluster as the node on `port` sees it."""
    return [_node(line) for line in str(tell(port, "CLUSTER", "NODES")).splitlines()]


def myself(port: int) -> Node:
    """The node on `port` as it sees itself."""
    return next(node for node in view(port) if "myself" in node.flags)


def _node(line: str) -> Node:
    id, address, flags, master, _, _, _, link, *slots = line.split()
    port, bus = address.rpartition(":")[2].split(",")[0].split("@")
    return Node(
        id=id,
        port=int(port),
        bus=int(bus),
        flags=frozenset(flags.split(",")),
        master=master,
        linked=link == "connected",
        # In brackets are slots on their way to another node.
        slots=tuple(_slots(part) for part in slots if not part.startswith("[")),
    )


def _slots(part: str) -> range:
    first, _, last = part.partition("-")
    return range(int(first), int(last or first) + 1)
