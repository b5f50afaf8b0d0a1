"""What every store promises. Open this file second, after `core/states.py`.

The words are those of the domain; no driver's types pass through here. Rules that
hold for every method:

- **Batch first.** One call is one atomic step on the engine (on Redis: for each 500 jobs or
  1,000 parents; on a Cluster: for each slot), and its work never grows with the backlog.
- **The store's clock decides.** Durations come in, moments are computed here.
- **Fenced.** A write by a worker carries the fence of its claim. Where the store has
  another fence, or the job is no longer active, nothing is written and the id is
  missing from the answer. That absence is the signal that the lease is lost or the
  job was cancelled; there is no other channel for it.
- **Limits.** A job with a lane enters it instead of becoming pending, and one with a group gets
  its place by turns: as `windlass.limits` says, within the step that brings the job there.
- **Safe to repeat.** A call that was carried out and whose answer was lost can be
  made again without harm.
- An engine that does not answer raises `StoreUnavailable`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from ..core.apikey import ApiKey
from ..core.attempts import AttemptRecord
from ..core.model import (
    Entry,
    Job,
    Lease,
    NewJob,
    Progress,
    Receipt,
    Transition,
)
from ..core.schedule import Schedule
from ..core.stats import Tally
from ..core.workers import Order, Term, WorkerInfo
from .oversight import Oversight

PROMOTE_BATCH: Final = 1_000
"""The most due jobs that one claim makes pending before it looks at priorities."""

FENCES_A_MILLISECOND: Final = 1024
"""A fence is at least so many times the milliseconds of the store's clock."""

CLAIM_BYTES: Final = 16 * 1024 * 1024
"""The most bytes of payload that one claim gives, unless it is asked for less or for more."""

ABANDON_BATCH: Final = 1_000
"""The most leases that one call of `abandon` lets run out."""

LONGEST_TERM: Final = 60_000
"""No leader asks for more milliseconds at a time."""

SCAN_BATCH: Final = 1_000
"""The most jobs that `find` looks at for one page."""

PAGE_BYTES: Final = 4 * 1024 * 1024
"""The jobs of one page of `find` or of the journal (see `size_of`), but for the last one."""

MOST_COUNTED: Final = 10_000
"""Where `lanes` may stop counting the jobs of one lane."""


class Store(Oversight, Protocol):
    """An engine that holds jobs. What people ask of it besides is in `oversight`."""

    @property
    def blocking(self) -> bool:
        """Whether no method but `wait` suspends, so that it can be driven without an event loop."""

    # -- life of the store ---------------------------------------------------------------

    async def open(self) -> None:
        """Connect, and migrate unless that was switched off. Needed before anything else."""

    async def close(self) -> None:
        """Let go of every resource. Closing twice is allowed."""

    async def migrate(self) -> Sequence[str]:
        """Bring the schema up to date and name the migrations applied; none is a good answer.

        Raises `SchemaMismatch` when the schema is newer than this code or was tampered with.
        """

    async def ping(self) -> None:
        """Return if the engine answers, raise `StoreUnavailable` if not."""

    async def now(self) -> int:
        """The present moment by the store's clock, which is the one that counts."""

    # -- the way of a job ----------------------------------------------------------------

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        """Accept jobs; one receipt for each, in order.

        A job whose id exists, in whatever state, or whose unique key is held (see `core.unique`)
        is reported as a duplicate and changes nothing; the others are not affected. The first of
        two in the same batch wins. A job is pending if its time has come, scheduled if not.

        A job with parents is blocked while one of them is live. If one is dead or cancelled
        it is cancelled at once, unless it runs anyway. A parent must be there, or come before
        it in the same call: otherwise `UnknownJob`, and nothing of the call is written. If a
        call takes several steps, all parents are looked for before the first, and one that is
        gone when its turn comes counts as completed.
        """

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        """The jobs of these ids; an unknown one is missing from the answer."""

    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        """Hand at most `limit` pending jobs to `worker` for `lease` milliseconds.

        `queues` is in order of preference, each with the most that it may give. Due jobs
        of these queues become pending first. Within a queue the highest priority goes
        first, and within a priority the one that has been pending longest. Each job gets
        one more attempt and a fence greater than any that it had, which is never below the
        store's clock times `FENCES_A_MILLISECOND`: so a store that was restored from an old
        copy repeats none. A paused queue gives nothing. Right behind a job of a lane with a
        size, and beyond all limits but that of bytes, come the next ones that wait there, `size`
        in all. May give fewer than there are: a store bounds one call. Only an empty answer says
        that there is nothing.

        The payloads of one call are `most_bytes` at the most: it ends before the job that would go
        beyond, which keeps its place and its attempts. The first one is given whatever its size.
        As many come along as there is room for, beside all others of the call. A store may count
        what it keeps beside a payload.
        """

    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        """Hold these leases for `lease` milliseconds from now; the ids that were still held.

        A lease that ran out counts as held until someone has rescued the job.
        """

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        """Apply what attempts came to; the ids whose lease still held.

        Serves success, retry, death, snooze and release alike. A job that goes back to
        pending goes to the front of its priority, a batch of them in its own order. A
        completed or cancelled job is kept for `spec.keep`, and not at all if that is 0; a
        dead one until someone deletes it. One that awaits a signal which has come goes back to
        pending instead of being parked; only a released one goes on awaiting what it did. All that
        a live job holds, its unique key for one, is free in the same step.

        So are its dependents: those that have nothing left to wait for become pending, or
        scheduled if their time is to come; those that were orphaned are cancelled, and with
        them those that depend on them. What the end of one job releases goes to the end of the
        line in the order in which it came. Where there are many, the step does a bounded number
        and notes the rest for `unblock`. The same holds for whatever else ends a job.
        """

    async def report(self, reports: Sequence[tuple[Lease, Progress]]) -> None:
        """Note how far attempts have come; those whose lease is lost are left out."""

    async def checkpoint(self, states: Sequence[tuple[Lease, bytes]]) -> frozenset[str]:
        """Keep what attempts leave for the next one; the ids whose lease still held.

        Each claim of the job brings it. It goes when the job is completed.
        """

    async def signal(self, id: str, name: str, value: bytes) -> bool:
        """Leave word for a live job; whether it has this word now: the first of a name stays.

        A job that is parked for it becomes pending, at the end of the line, as if its time had
        come. Each claim brings all that came. They go when the job is completed.
        """

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        """Return when these queues may have work, a job's time has come, or after `timeout` s.

        No queues means every queue, those to come as well. May return for nothing; never
        sleeps past the next due time, never longer than asked.
        """

    # -- upkeep --------------------------------------------------------------------------

    async def rescue(self, limit: int, lease: int, worker: str) -> Sequence[Job]:
        """Take over at most `limit` active jobs whose lease ran out, longest ago first.

        The attempt stays the one that was lost; the fence is new, so the former owner can
        no longer write, and two rescuers never get the same job.
        """

    async def abandon(self, worker: str) -> int:
        """Say that a worker's process is gone; how many leases ran out by that.

        Whoever rescues next takes its jobs over. Its leaderships are given up, and it leaves the
        list of workers. Of very many leases a part may be left, and one that another transaction
        has at the moment is: call again until the answer is 0.
        """

    async def unblock(self, limit: int) -> int:
        """Go on with what ended jobs owe to dependents; how many it looked at, 0 if nothing is."""

    async def prune(self, limit: int) -> int:
        """Drop at most `limit` finished jobs that were kept long enough; how many it was.

        Windows of unique keys that are over, lanes that nobody is in, records of attempts and
        statistics that were kept long enough go as well, at most so many of each, uncounted.
        """

    async def elect(self, role: str, holder: str, ttl: int) -> Term | None:
        """Win or renew the leadership of `role` for `ttl` milliseconds; None if another has it.

        The term grows with each change of holder. One that ends later than `LONGEST_TERM` from now,
        or `ttl` if that is more, is no hindrance: the store's clock was set back.
        Leadership saves work; nothing may depend on there being only one leader.
        """

    async def resign(self, role: str, holder: str) -> None:
        """Give up a leadership at once, if `holder` has it."""

    async def beat(self, worker: WorkerInfo, ttl: int) -> Order | None:
        """Enter a worker into the list, or bring its entry up to date, for `ttl` milliseconds.

        Answers with the order that stands for it (see `direct`), None if nobody has left one.
        """

    async def leave(self, worker: str) -> None:
        """Take a worker off the list at once."""

    async def note_attempts(self, records: Sequence[AttemptRecord], keep: int) -> None:
        """Keep what attempts came to and logged, for `keep` milliseconds from now.

        A record of the same job and fence takes the place of the one before. Of each job there
        are at most `MOST_ATTEMPTS`, those of the greatest fences. Not fenced, and the job need
        not be there: what an attempt logged before it lost its lease is welcome.
        """

    async def tally(self, worker: str, number: int, tallies: Sequence[Tally]) -> None:
        """Add what a worker has counted to the present buckets, of its queues and of the whole.

        `number` grows with each call of a worker; one that is not above the last adds nothing.
        """

    # -- schedules -----------------------------------------------------------------------

    async def put_schedules(self, schedules: Sequence[Schedule]) -> None:
        """Add schedules, or change those that have these names.

        A new one begins now, or where another store left it, if it has a `last`. Of one that is
        there, what is the store's own stays: whether it is paused, its last tick and its job.
        """

    async def schedules(self) -> Sequence[Schedule]:
        """Every schedule, by name."""

    async def pause_schedules(self, names: Sequence[str], paused: bool) -> frozenset[str]:
        """Pause schedules, or let them go on from now; the names that there are."""

    async def drop_schedules(self, names: Sequence[str]) -> frozenset[str]:
        """Remove schedules; the names that were. Jobs that they made stay."""

    async def tick(self, schedule: Schedule, tick: int) -> Receipt | None:
        """See to a tick: note it as the last one and insert its job, in one step.

        None, and nothing happens, unless it has come by the store's clock, is later than the
        last one, and the schedule still has the `last` given here and is not paused. Where
        overlap leaves the job out, the receipt is a duplicate: the job that is still there.
        """

    # -- keys of the API -----------------------------------------------------------------

    async def put_keys(self, keys: Sequence[ApiKey]) -> None:
        """Add keys, or change those that have these ids."""

    async def keys(self) -> Sequence[ApiKey]:
        """Every key, by id, expired ones too."""

    async def drop_keys(self, ids: Sequence[str]) -> frozenset[str]:
        """Remove keys; the ids that were."""

    async def had_keys(self) -> bool:
        """Whether there are keys or were any; true for good from the first one on."""

    async def end_logins(self, logins: Mapping[str, int]) -> None:
        """Remember logins that were ended, each until the moment at which it ends anyway."""

    async def ended_logins(self) -> Mapping[str, int]:
        """The logins that were ended and whose moment is to come by the store's clock."""

    # -- journal and move ----------------------------------------------------------------

    async def keep_journal(self, on: bool) -> None:
        """From now on, for every handle on this store, note in the journal what ends; or stop.

        What ends is an attempt, whatever it came to, and a job, cancelled before it ran or not.
        The note is part of the step that ends it. Off, nothing is noted and nothing is paid for;
        what was noted stays until it is trimmed.
        """

    async def read_journal(self, limit: int) -> Sequence[Entry]:
        """The oldest entries, at most `limit`. They stay: whoever has kept them trims them.

        An entry whose step is not visible yet may come later than one with a later `at`, but
        it comes: none is passed over. Entries of one moment come in any order. May give fewer
        than there are: a store bounds one call, and ends it behind the entry with which the jobs
        come to `PAGE_BYTES`.
        """

    async def trim_journal(self, entries: Sequence[Entry]) -> None:
        """Drop entries that were read and are kept elsewhere; one that is gone is no error."""

    async def restore(self, jobs: Sequence[Job]) -> Sequence[Receipt]:
        """Take in jobs of another store as they are there; one receipt for each, in order.

        Keeps state, attempts, times, error, result, progress, unique key and fence; every fence
        that is given from now on is above those. Pending jobs go to the end of the line in the
        order given. As by `insert`, an id that exists makes a duplicate, and so does a unique
        key that is held, of a job that is not finished. An active job is `InvalidOption`, and
        nothing of the call is stored: it belongs to a worker of the other store.
        """
