"""What workers in other languages ask for, held to the same rules over both APIs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from ..core.ids import checked_id
from ..core.model import Lease
from ..core.name import checked_name
from ..core.rotation import EVERY
from ..core.workers import WorkerInfo
from ..errors import InvalidOption
from .caller import Caller
from .checked import refuse_unstorable
from .faults import TooLarge
from .fetch import Order
from .site import Site

LEASE_MS: Final = 30_000
SHORTEST_LEASE_MS: Final = 1_000
LONGEST_LEASE_MS: Final = 24 * 60 * 60 * 1000
MOST_BYTES: Final = 3 * 1024 * 1024
"""What most clients of gRPC take, which is 4 MiB, with room for the rest of the answer."""

MOST_QUEUES: Final = 100


def refuse_too_many(number: int, most: int, what: str) -> None:
    """Raise for more than a server takes in one request."""
    if number > most:
        raise TooLarge(f"A request has at most {most:,} {what}, and this one has {number:,}.")


def checked_worker(name: str) -> str:
    return checked_name(name, "name of a worker")


def checked_info(info: WorkerInfo) -> WorkerInfo:
    """A worker as it may be on the list; its queues are names as they were given."""
    checked_worker(info.id)
    made = replace(info, queues=tuple(map(_listed, info.queues)))
    refuse_unstorable(made)
    if not 0 < len(made.queues) <= MOST_QUEUES:
        raise InvalidOption(f"A worker serves from 1 to {MOST_QUEUES} queues; name them.")
    return made


def checked_order(
    site: Site,
    caller: Caller,
    worker: str,
    queues: Iterable[tuple[str, int]],
    limit: int,
    lease: int,
    most_bytes: int,
) -> Order:
    """What a worker asks for. A queue comes with the most that it may give; 0 is any number."""
    limit = limit or 1
    if limit < 0 or most_bytes < 0:
        raise InvalidOption("limit and max_bytes are 0 or more.")
    refuse_too_many(limit, site.settings.max_batch, "jobs")
    shares = _shares(queues, limit)
    for queue in shares:
        caller.require_queue(queue)
    lease, most_bytes = checked_lease(lease), most_bytes or MOST_BYTES
    return Order(
        site.store_for(caller),
        caller.name,
        checked_worker(worker),
        shares,
        limit,
        lease,
        most_bytes,
    )


def _shares(asked: Iterable[tuple[str, int]], limit: int) -> Mapping[str, int]:
    shares = {_queue(queue): most or limit for queue, most in asked}
    if not 0 < len(shares) <= MOST_QUEUES:
        raise InvalidOption(f"A worker fetches from 1 to {MOST_QUEUES} queues; name them.")
    if min(shares.values()) < 0:
        raise InvalidOption("most is the number of jobs that a queue may give, or 0 for any.")
    return shares


def checked_lease(ms: int) -> int:
    """For how long a claim holds; 0 is as long as usual."""
    if not ms:
        return LEASE_MS
    if not SHORTEST_LEASE_MS <= ms <= LONGEST_LEASE_MS:
        raise InvalidOption(
            f"lease_ms is a number from {SHORTEST_LEASE_MS:,} to {LONGEST_LEASE_MS:,}; got {ms}."
        )
    return ms


def checked_leases(given: Iterable[tuple[str, int]], most: int) -> list[Lease]:
    """The leases that a request is about, by id and fence, in its order."""
    leases = [Lease(checked_id(id), fence) for id, fence in given]
    refuse_too_many(len(leases), most, "jobs")
    for lease in leases:
        refuse_unstorable(lease.fence, "fence")
    return leases


def refuse_both(delay: int, unknown_task: bool, name: str) -> None:
    """Raise for a release that says in two ways when the jobs are to run again."""
    if delay and unknown_task:
        raise InvalidOption(f"Give {name} or unknown_task, not both.")


def among(done: frozenset[str], leases: Sequence[Lease]) -> list[str]:
    """The ids that were, in the order asked, each once."""
    return [*dict.fromkeys(lease.id for lease in leases if lease.id in done)]


def _queue(name: str) -> str:
    if name == EVERY:
        raise InvalidOption("A worker names its queues one by one; * is for workers in Python.")
    return checked_name(name, "name of a queue")


def _listed(name: str) -> str:
    """A queue as the list of workers has it: what follows a colon would be a weight."""
    return f"{_queue(name)}:1" if ":" in name else _queue(name)
