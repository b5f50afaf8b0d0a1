"""Who depends on whom, as the shards keep it: see `lua/shared/waits.lua` and `endings.lua`."""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from ...core.dependents import orphaned
from .record import STATES, encode, pack_id, unpack_id, unpack_queue

_LENGTH: Final = Struct(">H")
_REST: Final = Struct(">QBBH")
_ENDING: Final = Struct(">QBH")
_TAIL: Final = Struct(">QB")

HERE: Final = 255
"""For where an edge is: in the shard of the wait."""

HOW: Final = (*STATES, "deleted")
"""How a job ended, by its code."""

COMPLETED: Final = 5
RUNS_ANYWAY, WAITS_FOR_ONE = 1, 2
LAST_NUMBER: Final = 2**52
"""Greater than that of any edge."""


class Edge(NamedTuple):
    """From a parent to one that depends on it; without a child, to all that wait for the parent
    in another shard."""

    raw: bytes
    shard: int
    child: bytes
    queue: str


def read_edge(raw: bytes) -> Edge:
    (length,) = _LENGTH.unpack_from(raw)
    _, shard, _, size = _REST.unpack_from(raw, 2 + length)
    at = 2 + length + _REST.size
    return Edge(raw, shard, raw[at : at + size], unpack_queue(raw[at + size :]))


class Ending(NamedTuple):
    """What a job of a shard that has ended owes to its dependents."""

    shard: int
    raw: bytes

    @property
    def parent(self) -> str:
        _, _, length = _ENDING.unpack_from(self.raw)
        return unpack_id(self.raw[_ENDING.size : _ENDING.size + length])

    @property
    def completed(self) -> bool:
        return bool(_ENDING.unpack_from(self.raw)[1] == COMPLETED)

    @property
    def why(self) -> bytes:
        """Why those that depend on it are cancelled: the root of it, if it was one of these."""
        _, how, length = _ENDING.unpack_from(self.raw)
        given = self.raw[_ENDING.size + length :]
        return given or encode(orphaned(self.parent, HOW[how]))

    def elsewhere(self, shard: int) -> Ending:
        """The same for what waits in another shard, whenever it came there."""
        _, how, length = _ENDING.unpack_from(self.raw)
        return Ending(shard, _ENDING.pack(LAST_NUMBER, how, length) + self.raw[_ENDING.size :])


def pack_how(shard: int, *, runs_anyway: bool, alone: bool) -> bytes:
    """Where a dependent is, and how it waits; `alone` if this parent is its only one."""
    return bytes((shard, RUNS_ANYWAY * runs_anyway + WAITS_FOR_ONE * alone))


def pack_tail(number: int, where: int, parent: str) -> bytes:
    """A wait, but for the id of who waits."""
    return _TAIL.pack(number, where) + pack_id(parent)
