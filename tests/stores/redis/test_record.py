"""Python and Lua read and write the same records, whatever is in a job."""

from uuid import UUID

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.servers.server import Server
from tests.stores.redis.watch import fresh_namespace
from windlass.core.ids import new_id
from windlass.core.lane import Lane
from windlass.core.model import DAY_MS, Failure, Job, NewJob, Progress, Spec, Transition
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.stores.memory import MemoryStore
from windlass.stores.open import open_store
from windlass.stores.redis.record import LARGEST_INLINE, pack_id, unpack_id
from windlass.sync import drive
from windlass.testing.clock import START, FakeClock
from windlass.testing.jobs import LEASE

replace = msgspec.structs.replace

# Whole lines of planes that are not printable are left out, as the client does.
letters = st.characters(exclude_categories=("C", "Z"))
names = st.text(letters, min_size=1, max_size=128)
keys = st.text(letters, min_size=1, max_size=255)
UUIDS = st.uuids(version=4).map(str) | st.builds(new_id)
look_alikes = st.builds(new_id).flatmap(
    lambda id: st.sampled_from(
        [
            id.upper(),
            id.replace("-", ""),
            "-" + id.replace("-", "", 1),
            id[:9] + "-" + id[9:13] + id[14:],
            id[:14] + "4" + id[15:],
            "f" + id[1:],
            "{" + id + "}",
            id[:-1] + "g",
            id[:-1] + "é",
        ]
    )
)
job_ids = names | UUIDS | look_alikes
sizes = st.sampled_from([0, 1, 100, LARGEST_INLINE - 60, LARGEST_INLINE, LARGEST_INLINE + 1, 9_000])
payloads = st.builds(lambda size, byte: bytes([byte]) * size, sizes, st.integers(0, 255))
specs = st.builds(
    Spec,
    names,
    payloads | st.binary(max_size=300),
    keep=st.sampled_from([0, 1, DAY_MS, DAY_MS + 1, 100 * 365 * DAY_MS]),
    labels=st.none() | st.dictionaries(names, names, max_size=2),
    lane=st.none()
    | st.builds(
        Lane,
        names,
        slots=st.sampled_from([0, 1, 2**32 - 1]),
        strict=st.booleans(),
        starts=st.sampled_from([0, 1, 2**32 - 1]),
        per=st.sampled_from([1, 1_000, 100 * 365 * DAY_MS]),
        burst=st.sampled_from([0, 1, 1_000]),
    ),
    group=st.just("") | names,
    weight=st.sampled_from([1, 3, 2**32 - 1]),
).map(lambda spec: spec if spec.group else replace(spec, weight=1))
jobs = st.builds(
    NewJob,
    job_ids,
    specs,
    queue=st.just("default") | names,
    priority=st.integers(0, 100),
    delay=st.sampled_from([0, 0, 1, 60_000, 100 * 365 * DAY_MS]),
    due=st.sampled_from([None, None, 0, START - 1, START, START + 5_000, 253_370_764_799_999]),
    unique=st.none() | keys,
    fresh=st.booleans(),
)
failures = st.builds(Failure, names, st.text(letters), st.text(letters))


@pytest.fixture(scope="module")
def server_url(redis_server: Server) -> str:
    return redis_server.url


class Both:
    """The same steps on Redis and on the specification."""

    def __init__(self, url: str) -> None:
        self.clock = FakeClock()
        self.redis = open_store(
            f"{url}?namespace={fresh_namespace()}", clock=self.clock, blocking=True
        )
        self.memory: Store = MemoryStore(self.clock)
        drive(self.redis.open())

    def close(self) -> None:
        drive(self.redis.close())

    def agree(self, id: str) -> Job | None:
        """The job, which must be the same in both."""
        mine = drive(self.redis.get([id])).get(id)
        expected = drive(self.memory.get([id])).get(id)
        assert (None if mine is None else plain(mine)) == (expected and plain(expected))
        return mine

    def claim(self, queue: str, worker: str) -> list[Job]:
        """The job as each of them gives it, if they do."""
        [mine, expected] = [
            list(drive(store.claim({queue: 1}, 1, LEASE, worker)))
            for store in (self.redis, self.memory)
        ]
        assert list(map(plain, mine)) == list(map(plain, expected))
        return [*mine, *expected]

    def report(self, claimed: list[Job], progress: Progress) -> None:
        for store, job in zip((self.redis, self.memory), claimed, strict=True):
            drive(store.report([(job.lease, progress)]))

    def finish(self, claimed: list[Job], move: Transition) -> None:
        done = [
            drive(
                store.finish(
                    [replace(move, id=job.id, fence=job.fence, queue=job.queue, ref=job.ref)]
                )
            )
            for store, job in zip((self.redis, self.memory), claimed, strict=True)
        ]
        assert done[0] == done[1]


def plain(job: Job) -> Job:
    """A job without what each store chooses by itself."""
    return replace(job, ref=0, fence=min(job.fence, 1))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(
    job=jobs,
    worker=names,
    move=st.builds(
        Transition,
        st.just(""),
        st.just(0),
        st.sampled_from([State.RETRY, State.SCHEDULED, State.PENDING, State.COMPLETED, State.DEAD]),
        delay=st.sampled_from([0, 1_000]),
        result=st.none() | payloads,
        error=st.none() | failures,
        refund=st.booleans(),
    ),
    progress=st.none() | st.builds(Progress, st.floats(0, 100), st.text(letters)),
)
def test_a_job_comes_back_as_it_was_sent(
    server_url: str, job: NewJob, worker: str, move: Transition, progress: Progress | None
) -> None:
    both = Both(server_url)
    try:
        assert drive(both.redis.insert([job])) == drive(both.memory.insert([job]))
        sent = both.agree(job.id)
        assert sent is not None
        assert sent.spec == job.spec
        assert (sent.queue, sent.priority, sent.unique) == (job.queue, job.priority, job.unique)
        both.clock.now = max(both.clock.now, sent.due)
        for _ in range(2):
            claimed = both.claim(job.queue, worker)
            if not claimed:
                break
            if progress is not None:
                both.report(claimed, progress)
            both.agree(job.id)
            both.finish(claimed, move)
            both.agree(job.id)
            both.clock.advance(1)
        for change in ("reschedule", "cancel", "replay", "delete"):
            [mine, expected] = [
                drive(getattr(store, change)([job.id])) for store in (both.redis, both.memory)
            ]
            assert mine == expected
            both.agree(job.id)
    finally:
        both.close()


@settings(max_examples=300)
@given(job_ids)
@example("018f3c1e-7b1a-7000-8000-000000000000")
@example("018F3C1E-7B1A-7000-8000-000000000000")
@example("018f3c1e7-b1a-7000-8000-000000000000")
@example("1" * 36)
def test_an_id_comes_back_as_it_was(id: str) -> None:
    assert unpack_id(pack_id(id)) == id


@settings(max_examples=300)
@given(st.lists(job_ids, min_size=2, max_size=6, unique=True))
def test_two_ids_are_never_packed_into_one(ids: list[str]) -> None:
    assert len({pack_id(id) for id in ids}) == len(ids)


def test_an_id_of_our_own_takes_sixteen_bytes() -> None:
    id = new_id()
    assert pack_id(id) == UUID(id).bytes
