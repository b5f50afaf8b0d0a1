"""New jobs whose unique key another holds, and that may replace it or wait behind it.

With one shard `lua/insert.lua` sees to it in one step, and says first what it must know. Over
several, the holder may be anywhere: it is looked at, and then a step in its shard replaces it on
condition that it still waits and holds the key. On what terms it holds that is noted in the same
step, and told to the home of the key after it. A job that follows takes the key over at its home
while it is held back (see `names`).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from struct import Struct
from typing import Any, Final, NamedTuple

from ...core.model import Job, NewJob
from ...core.schedule import following
from .arrivals import Arrival
from .io import Word
from .names import Names
from .packing import Follower, pack_new
from .record import pack_id, unpack_id, unpack_queue
from .shard import Shard
from .together import together

CLASH: Final = b"clash"
REKEY: Final = "k"
"""The kind of note in the outbox for a key that is held on other terms."""

_TERMS: Final = Struct(">QQ")


def may_clash(job: Arrival) -> bool:
    """Whether a job does not just give way to one that holds its key."""
    return isinstance(job, NewJob) and job.conflict != "reject" and job.unique is not None


class Rivals:
    """What `insert.lua` was told so far of those that hold the keys of new jobs."""

    def __init__(self) -> None:
        self.followers: dict[int, Follower] = {}
        self.queues: set[str] = set()

    def note(self, jobs: Sequence[NewJob], unsaid: Sequence[Any]) -> None:
        """Note what it asks for."""
        for at in range(0, len(unsaid), 4):
            n, holder, follows, queue = unsaid[at : at + 4]
            if follows:
                follower = following(jobs[n], unpack_id(holder))
                self.followers[n] = Follower(holder, pack_new(follower))
            else:
                self.queues.add(unpack_queue(queue))


class Holder(NamedTuple):
    """The job that holds a key, and where it is."""

    shard: Shard
    job: Job


class Replaced(IntEnum):
    """What became of an attempt to replace a job."""

    YES = 1
    MOVED_ON = 0
    IS_NO_HOLDER = -1
    """it waits, but the key was held by a former job of its id"""


class Rivalry:
    """Replaces jobs in whatever shards they are."""

    def __init__(self, shards: Sequence[Shard], names: Names) -> None:
        self._shards = shards
        self._names = names

    async def look_at(self, id: str) -> Holder | None:
        answers = await together([shard.get([id]) for shard in self._shards])
        found = zip(self._shards, answers, strict=True)
        return next((Holder(shard, jobs[id]) for shard, jobs in found if id in jobs), None)

    async def replace(self, holder: Holder, job: NewJob) -> Replaced:
        """Replace a job, if it still waits and holds the key."""
        shard, old = holder
        record, large = pack_new(job)
        key = (job.unique or "").encode()
        words: list[Word] = [pack_id(old.id), key, pack_id(job.id), record, large or b""]
        done, noted = await shard.run("replace", [old.queue], words)
        if noted is not None:
            await rekey(shard, self._names, old.id, noted)
        return Replaced(done)


async def rekey(shard: Shard, names: Names, id: str, noted: bytes) -> None:
    """Tell the home of a key on what terms a job of this shard holds it from now on."""
    number, until = _TERMS.unpack_from(noted, 8)
    key = noted[8 + _TERMS.size :]
    await names.rekey(key.decode(), id, number, until)
    words: list[Word] = [REKEY.encode() + pack_id(id), noted[8:]]
    await shard.run_on("forget", ["outbox"], words)
