"""Records in Redis that somebody, or something, has changed: no step stops at one."""

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis

from tests.servers.server import Server
from windlass.core.ids import new_id
from windlass.core.lane import Lane
from windlass.core.model import Failure, Job, JobQuery, NewJob, Progress, Spec, Transition
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.sync import drive
from windlass.testing.clock import FakeClock

PLAIN = Spec("fine", b"")
SPECS = [
    PLAIN,
    Spec("fine", b"", keep=60_000),
    Spec("fine", b"x" * 5_000),
    Spec("fine", b"", lane=Lane("l", slots=1)),
    Spec("fine", b"", group="g"),
]
GOOD = {"before", "after"}
DAMAGES = st.tuples(
    # Most often where the head and the names are.
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 255)), max_size=4),
    st.none() | st.integers(0, 100),
    st.binary(max_size=8),
)
"""Bytes that are changed, where the record is cut off, and what is put at its end."""
Damage = tuple[list[tuple[int, int]], int | None, bytes]


class Place:
    """A store, and the hand that harms it below the contract."""

    def __init__(self, store: Store, clock: FakeClock, redis: Redis, prefix: str) -> None:
        self.store = store
        self.clock = clock
        self._redis = redis
        self._prefix = prefix

    def harm(self, damage: Damage, *keys: str) -> None:
        changes, end, more = damage
        for key in keys:
            raw = self._redis.hget(self._prefix + key, "harmed")
            if isinstance(raw, bytes):
                changed = bytearray(raw)
                for at, byte in changes:
                    changed[at : at + 1] = bytes([byte])
                self._redis.hset(self._prefix + key, "harmed", bytes(changed[:end]) + more)

    def claim_all(self, worker: str) -> dict[str, Job]:
        jobs = [drive(self.store.claim({"default": 50}, 50, 1_000, worker)) for _ in range(3)]
        return {job.id: job for batch in jobs for job in batch}

    def rescue(self) -> dict[str, Job]:
        self.clock.advance(2)
        return {job.id: job for job in drive(self.store.rescue(50, 1_000, "rescuer"))}

    def finish(self, jobs: dict[str, Job], state: State) -> frozenset[str]:
        moves = [
            Transition(id, job.fence, state if id == "harmed" else State.COMPLETED, queue=job.queue)
            for id, job in jobs.items()
        ]
        return drive(self.store.finish(moves))


@contextmanager
def placed(server: Server) -> Iterator[Place]:
    space, clock = new_id(), FakeClock()
    store = open_store(f"{server.url}?namespace={space}", clock=clock, blocking=True)
    drive(store.open())
    try:
        with Redis(port=server.port) as redis:
            yield Place(store, clock, redis, f"{space}:{{0}}:")
    finally:
        drive(store.close())


@settings(max_examples=80, suppress_health_check=list(HealthCheck))
@given(
    spec=st.sampled_from(SPECS),
    unique=st.sampled_from([None, "key"]),
    delay=st.sampled_from([0, 500]),
    when=st.sampled_from(["waiting", "active", "tried", "finished"]),
    state=st.sampled_from([State.COMPLETED, State.DEAD, State.RETRY, State.PENDING]),
    damage=DAMAGES,
)
def test_whatever_becomes_of_a_record_the_jobs_beside_it_go_on(
    redis_server: Server,
    spec: Spec,
    unique: str | None,
    delay: int,
    when: str,
    state: State,
    damage: Damage,
) -> None:
    with placed(redis_server) as place:
        store = place.store
        new = NewJob("harmed", spec, unique=unique, delay=delay)
        drive(store.insert([NewJob("before", PLAIN), new, NewJob("after", PLAIN)]))
        if when == "waiting":
            place.harm(damage, "jobs")
        place.clock.advance(0.5)
        claimed = place.claim_all("w1")
        assert claimed.keys() == {"before", "harmed", "after"}
        if when == "tried":
            lease = claimed["harmed"].lease
            drive(store.report([(lease, Progress(1))]))
            drive(store.checkpoint([(lease, b"left")]))
            drive(store.signal("harmed", "word", b"said"))
            failed = Transition("harmed", lease.fence, State.RETRY, error=Failure("E", "x"))
            assert drive(store.finish([failed]))
            place.harm(damage, "jobs", "errors", "progress", "mail", "checkpoints")
            claimed |= place.claim_all("w1")
        if when == "active":
            place.harm(damage, "jobs")
            claimed = place.rescue()
            assert claimed.keys() >= GOOD
        assert place.finish(claimed, state) >= GOOD
        if when == "finished":
            place.harm(damage, "jobs")
        assert {job.id for job in drive(store.find(JobQuery())).jobs} >= GOOD
        assert drive(store.get(["before", "harmed", "after"])).keys() >= GOOD
        drive(store.queues())
        place.finish(place.rescue() | place.claim_all("w2"), State.DEAD)
        place.clock.advance(2 * 24 * 3600)
        drive(store.prune(100))
        drive(store.insert([NewJob("last", PLAIN)]))
        assert "last" in place.claim_all("w3")
