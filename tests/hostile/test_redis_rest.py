"""What Redis keeps besides jobs, with something else in the place of one entry: the others stay."""

from typing import Any

import msgspec
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from redis import Redis

from tests.hostile.test_redis_records import PLAIN, placed
from tests.servers.server import Server
from windlass.core.apikey import ApiKey, Role
from windlass.core.attempts import AttemptRecord
from windlass.core.model import JobQuery, NewJob, Spec, Transition
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.core.stats import Tally
from windlass.core.workers import WorkerInfo
from windlass.stores.contract import Store
from windlass.sync import drive

HASHES = [
    *("schedules", "keys", "workers", "orders", "terms", "counts", "outbox", "names", "unique"),
    *("traits", "lanes", "partitions", "held", "ticks", "attempts:harmed"),
]
FIELDS = ["harmed", "leader", "aharmed", "bharmed", "rharmed", "tharmed", "uharmed", "kharmed", "2"]
NOISE = st.binary(max_size=30) | st.sampled_from(
    [b"", b"\xff" * 8, b"\0" * 40, b"\0" * 7 + b"\x01" + b"\0" * 60, b"-1", b"1.5", b"nan"]
)


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(HASHES), st.sampled_from(FIELDS), NOISE), max_size=6))
@example([("outbox", "aharmed", b""), ("outbox", "rharmed", b"\0" * 8 + b"\xff")])
@example([("schedules", "harmed", b"\0" * 9 + b"\xff\xff"), ("workers", "harmed", b"")])
@example([("terms", "leader", b"x"), ("counts", "2", b"many")])
def test_no_entry_that_is_something_else_hides_or_stops_the_others(
    redis_server: Server, noise: list[tuple[str, str, bytes]]
) -> None:
    with placed(redis_server) as place, Redis(port=redis_server.port) as redis:
        store = place.store
        begin(store)
        for name, field, value in noise:
            redis.hset(place.key(name), field, value)
        use(store)
        place.clock.advance(60)
        drive(store.rescue(10, 1_000, "rescuer"))
        drive(store.unblock(10))
        drive(store.prune(10))
        assert "good" in {job.id for job in drive(store.find(JobQuery())).jobs}


GOOD = Schedule("good", "0 9 * * *", Spec("t", b""))
KEY = ApiKey("good", b"digest", (Role.ADMIN,))
WORKER = WorkerInfo("good", "host", 1, ("default",), 1, 0)


def attempt(id: str, fence: int) -> AttemptRecord:
    return AttemptRecord(id, "default", fence, 1, "w", 0)


def begin(store: Store) -> None:
    drive(store.put_schedules([GOOD]))
    drive(store.put_keys([KEY]))
    drive(store.beat(WORKER, 600_000))
    drive(store.note_attempts([attempt("good", 1)], 600_000))
    drive(store.tally("good", 1, [Tally("default", {"completed": 1})]))


def use(store: Store) -> None:
    """Every call that reads or changes what was harmed: what is sound is there all the same."""
    both = ["good", "harmed"]
    assert "good" in {each.name for each in drive(store.schedules())}
    assert "good" in drive(store.pause_schedules(both, True))
    assert "good" in drive(store.pause_schedules(both, False))
    drive(store.put_schedules([GOOD, msgspec.structs.replace(GOOD, name="harmed")]))
    assert {each.name for each in drive(store.schedules())} >= set(both)
    assert "good" in {each.id for each in drive(store.keys())}
    assert "good" in {each.id for each in drive(store.workers())}
    assert "good" in drive(store.direct(both, "stop"))
    assert drive(store.beat(WORKER, 600_000)) == "stop"
    drive(store.beat(msgspec.structs.replace(WORKER, id="harmed"), 600_000))
    assert {each.id for each in drive(store.workers())} == set(both)
    assert drive(store.elect("leader", "me", 1_000)) is not None
    drive(store.note_attempts([attempt(id, n) for id in both for n in range(2, 60)], 600_000))
    assert drive(store.attempts(both)).keys() == set(both)
    drive(store.tally("good", 2, [Tally("default", {"completed": 1})]))
    drive(store.insert([NewJob("one", PLAIN)]))
    drive(store.insert([NewJob("two", PLAIN), NewJob("three", PLAIN)]))
    drive(store.insert([NewJob(id, PLAIN, unique=id) for id in both]))
    restored: Any = drive(store.get(["good"]))["good"]
    assert drive(store.delete(["good"])) == {"good"}
    assert not drive(store.restore([restored]))[0].duplicate
    claimed = drive(store.claim({"default": 9}, 9, 1_000, "w"))
    assert {job.id for job in claimed} >= {"one", "two", "three", "good"}
    moves = [Transition(job.id, job.fence, State.DEAD, queue=job.queue) for job in claimed]
    assert "good" in drive(store.finish(moves))
    drive(store.queues())
    drive(store.lanes(10))
    drive(store.oldest(["default"]))
    assert drive(store.stats(["default"], 10_000, 0)) is not None
