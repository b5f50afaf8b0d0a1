"""Jobs that depend on others, before they come in: what their parents mean for them.

With one shard, `lua/insert.lua` looks at the parents itself. Over several, and for a job with very
many, it takes steps: the job is held back (see `names`), edges are written where its parents are,
then it comes in with a wait for each edge. A parent that ends in between finds the edge, and
whoever sees to it comes again when the job is there. An edge to a job that never came does nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ...core.dependents import orphaned, unknown_parent
from ...core.model import Job, NewJob
from ...core.states import State
from .edges import HERE, Ending, pack_how, pack_tail
from .io import Word
from .portions import parts
from .record import CODES, STATES, encode, pack_id, pack_queue
from .shard import Shard
from .spread import Spread
from .together import together

FAILED: Final = (CODES[State.DEAD], CODES[State.CANCELLED])

Arrival = NewJob | Job


def depends(job: Arrival) -> bool:
    """Whether a job that comes in may have to wait for others."""
    return bool(job.spec.parents if isinstance(job, NewJob) else job.waits_for)


class Dependent(NamedTuple):
    """A job that is held back, and those that it depends on."""

    id: str
    queue: str
    shard: int
    parents: tuple[str, ...]
    runs_anyway: bool
    moved: bool = False
    """comes from another store, where it waited for these, whatever they are here"""
    replayed: bool = False
    """those that have failed do not matter any more"""


def dependent(job: Arrival, shard: int) -> Dependent:
    spec = job.spec
    if isinstance(job, NewJob):
        return Dependent(job.id, job.queue, shard, spec.parents, spec.runs_anyway)
    return Dependent(job.id, job.queue, shard, job.waits_for, spec.runs_anyway, moved=True)


class Told(NamedTuple):
    """What becomes of a job: the tails of its waits, or why it is cancelled."""

    tails: Sequence[bytes] = ()
    why: bytes = b""
    where: frozenset[int] = frozenset()
    """the shards of those that it waits for"""
    endings: Sequence[Ending] = ()
    """of those that had ended, and count as if they did so now"""


class Parents:
    """Finds parents in whatever shards they are, and writes edges there."""

    def __init__(self, shards: Sequence[Shard], spread: Spread) -> None:
        self._shards = shards
        self._spread = spread

    async def check(self, jobs: Sequence[NewJob]) -> None:
        """Raise if a parent is not there and does not come before in the same call."""
        coming: set[str] = set()
        asked: dict[str, str] = {}
        for job in jobs:
            for parent in job.spec.parents:
                if parent not in coming:
                    asked.setdefault(parent, job.id)
            coming.add(job.id)
        found = await self._find(asked)
        for parent, child in asked.items():
            if parent not in found:
                raise unknown_parent(child, parent)

    async def _find(self, ids: Iterable[str]) -> dict[str, int]:
        """The shards that have these jobs."""
        asked = list(ids)
        answers = await together([shard.located(asked) for shard in self._shards])
        return {id: number for number, found in enumerate(answers) for id in found}

    async def tell(self, dependents: Sequence[Dependent]) -> list[Told]:
        """Write the edges of jobs that are held back; what is to become of each.

        A parent that is gone since the call was checked counts as ended.
        """
        found = await self._find({id for each in dependents for id in each.parents})
        return [await self._tell(each, found) for each in dependents]

    async def _tell(self, job: Dependent, found: Mapping[str, int]) -> Told:
        groups: dict[int, list[str]] = {}
        for parent in dict.fromkeys(job.parents):
            if parent in found or job.moved:
                home = found.get(parent, self._spread.home(parent))
                groups.setdefault(home, []).append(parent)
        numbers: dict[str, tuple[int, int]] = {}
        endings: list[Ending] = []
        for shard, group in groups.items():
            for part in parts(group):
                answer, owed = await self._depend(job, shard, part)
                numbers |= {id: (n, shard) for id, n in zip(part, answer, strict=True)}
                endings += (Ending(shard, raw) for raw in owed)
        return _told(job, numbers, endings)

    async def _depend(
        self, job: Dependent, shard: int, parents: Sequence[str]
    ) -> tuple[list[int], list[bytes]]:
        alone = len(set(job.parents)) == 1
        how = pack_how(job.shard, runs_anyway=job.runs_anyway, alone=alone)
        words: list[Word] = [int(job.moved)]
        for parent in parents:
            words += (pack_id(parent), how, pack_id(job.id), pack_queue(job.queue))
        numbers, endings = await self._shards[shard].run("depend", (), words)
        return numbers, endings

    async def expect(self, id: str, shard: int, where: Iterable[int]) -> None:
        """Let a job that is to come to one shard be found there by who waits for it in these."""
        for number in where:
            if number != shard:
                how = pack_how(number, runs_anyway=False, alone=False)
                words: list[Word] = [1, pack_id(id), how, b"", b""]
                await self._shards[shard].run("depend", (), words)

    async def where_awaited(self, id: str) -> list[int]:
        """The shards where others wait for a job that is not there."""
        answers = await together([shard.known([id]) for shard in self._shards])
        return [number for number, known in enumerate(answers) if known.awaited]


def _told(job: Dependent, numbers: Mapping[str, tuple[int, int]], endings: list[Ending]) -> Told:
    tails: list[bytes] = []
    where: set[int] = set()
    for parent in dict.fromkeys(job.parents):
        number, shard = numbers.get(parent, (0, 0))
        if -number in FAILED and not (job.runs_anyway or job.replayed):
            return Told(why=encode(orphaned(parent, STATES[-number])))
        if number > 0:
            tails.append(pack_tail(number, HERE if shard == job.shard else shard, parent))
            where.add(shard)
    return Told(tails, b"", frozenset(where), endings)


Reasons = dict[tuple[str, int], bytes]
"""Why a dependent is cancelled, by parent and its state."""


def first_reasons(jobs: Sequence[NewJob]) -> Reasons:
    """Those that may be needed for jobs of the same call: one is cancelled, and so the next."""
    cancelled = CODES[State.CANCELLED]
    asked = {parent for job in jobs for parent in job.spec.parents}
    return {
        (job.id, cancelled): encode(orphaned(job.id, State.CANCELLED))
        for job in jobs
        if job.spec.parents and job.id in asked
    }


def reason_for(parent: str, state: int) -> bytes:
    return encode(orphaned(parent, STATES[state]))


def parent_words(jobs: Sequence[NewJob], reasons: Reasons, *, strict: bool) -> list[Word]:
    """What `lua/shared/parents.lua` takes, for jobs whose parents are in the same shard."""
    words: list[Word] = [int(strict), len(reasons)]
    for (parent, state), why in reasons.items():
        words += (pack_id(parent), state, why)
    some = [(n, job) for n, job in enumerate(jobs) if job.spec.parents]
    words.append(len(some))
    for n, job in some:
        spec = job.spec
        words += (n, int(spec.runs_anyway), len(spec.parents), *map(pack_id, spec.parents))
    words.append(0)
    return words


def told_words(told: Mapping[int, Told]) -> list[Word]:
    """The same for jobs that are told what to do, by their positions."""
    if not told:
        return []
    words: list[Word] = [0, 0, 0, len(told)]
    for n, each in told.items():
        words += (n, each.why, len(each.tails), *each.tails)
    return words
