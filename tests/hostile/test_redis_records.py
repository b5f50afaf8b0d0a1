"""Records in Redis that somebody, or something, has changed: no step stops at one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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

BESIDE = st.sets(st.sampled_from(["errors", "progress", "mail", "checkpoints", "large", "traits"]))
"""What a job keeps beside its record, and is harmed as well, or instead of it."""
HARMED = BESIDE | BESIDE.map(lambda keys: keys | {"jobs"}) | st.just({"jobs"})

BY_HAND: dict[str, Callable[[Store], Any]] = {
    "cancel": lambda store: store.cancel(["harmed"]),
    "replay": lambda store: store.replay(["harmed"]),
    "soon": lambda store: store.reschedule(["harmed"]),
    "later": lambda store: store.reschedule(["harmed"], 100),
    "prioritize": lambda store: store.prioritize(["harmed"], 60),
    "signal": lambda store: store.signal("harmed", "word", b"said"),
    "delete dead": lambda store: store.delete(["harmed"], frozenset({State.DEAD})),
    "delete": lambda store: store.delete(["harmed"]),
}
"""What people do to a job, and workers for their jobs."""


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

    def key(self, name: str) -> str:
        return self._prefix + name

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
    damage=st.tuples(DAMAGES, HARMED),
    acts=st.lists(st.sampled_from(sorted(BY_HAND)), max_size=3),
)
def test_whatever_becomes_of_a_record_the_jobs_beside_it_go_on(
    redis_server: Server,
    spec: Spec,
    unique: str | None,
    delay: int,
    when: str,
    state: State,
    damage: tuple[Damage, set[str]],
    acts: list[str],
) -> None:
    with placed(redis_server) as place:

        def harm() -> None:
            place.harm(damage[0], *damage[1])
            for act in acts:
                drive(BY_HAND[act](store))

        store = place.store
        new = NewJob("harmed", spec, unique=unique, delay=delay)
        drive(store.insert([NewJob("before", PLAIN), new, NewJob("after", PLAIN)]))
        if when == "waiting":
            harm()
        place.clock.advance(0.5)
        claimed = place.claim_all("w1")
        assert claimed.keys() >= GOOD
        assert "harmed" in claimed or acts
        if when == "tried" and "harmed" in claimed:
            lease = claimed["harmed"].lease
            drive(store.report([(lease, Progress(1))]))
            drive(store.checkpoint([(lease, b"left")]))
            drive(store.signal("harmed", "word", b"said"))
            failed = Transition("harmed", lease.fence, State.RETRY, error=Failure("E", "x"))
            assert drive(store.finish([failed]))
            harm()
            claimed |= place.claim_all("w1")
        if when == "active":
            harm()
            claimed = place.rescue()
            assert claimed.keys() >= GOOD
        assert place.finish(claimed, state) >= GOOD
        if when == "finished":
            harm()
        assert {job.id for job in drive(store.find(JobQuery())).jobs} >= GOOD
        assert drive(store.get(["before", "harmed", "after"])).keys() >= GOOD
        drive(store.queues())
        place.finish(place.rescue() | place.claim_all("w2"), State.DEAD)
        drive(store.delete(["harmed"]))
        assert "harmed" not in drive(store.get(["harmed"]))
        again = drive(store.insert([NewJob("harmed", PLAIN, unique=unique)]))
        assert not again[0].duplicate
        assert "harmed" in place.claim_all("w3")
        place.clock.advance(2 * 24 * 3600)
        drive(store.prune(100))
        drive(store.insert([NewJob("last", PLAIN)]))
        assert "last" in place.claim_all("w4")
