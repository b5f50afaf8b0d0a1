"""What workers count, on Redis: in buckets that go by themselves, by scripts that stay short."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.watch import contents, counted, fresh, fresh_namespace
from windlass.core.stats import COARSE, FINE, KEPT, Tally, bucket
from windlass.errors import StoreUnavailable
from windlass.stores.redis.keys import bucket_of, tallied_by
from windlass.stores.redis.store import RedisStore
from windlass.stores.redis.tallies import MOST_COUNTS, portions
from windlass.testing.clock import FakeClock

ONE = Tally("mail", {"completed": 1})


async def told(store: RedisStore, *queues: str, step: int = FINE) -> list[tuple[int, str, int]]:
    found = await store.stats(queues, step, 0)
    return [(point.at, point.queue, point.counts["completed"]) for point in found]


async def test_buckets_and_what_was_taken_go_by_themselves(redis_server: Server) -> None:
    clock = FakeClock()
    async with fresh(redis_server.url, clock) as store:
        await store.tally("w1", 1, [ONE])
        shard = store._shards[0]
        for step, kept in KEPT.items():
            for queue in ("", "mail"):
                name = bucket_of(step, bucket(step, clock()), queue)
                assert kept - step < await shard.send("PTTL", name) <= kept + 120_000
        assert 0 < await shard.send("PTTL", tallied_by("w1")) <= 3_600_000


async def test_whoever_counts_nothing_leaves_nothing(redis_server: Server) -> None:
    namespace = fresh_namespace()
    async with fresh(redis_server.url, namespace=namespace) as store:
        await store.tally("w1", 1, [Tally("mail", {"completed": 0})])
        # The number is taken all the same.
        await store.tally("w1", 1, [ONE])
        assert await told(store, "", "mail") == []
    keys = {key.decode().split(":", 2)[2] for key in contents(redis_server.port, namespace)}
    assert keys == {"meta", "tallied:w1"}


class Leaping:
    """A clock that goes on by so much, one time after the other, when it is asked."""

    def __init__(self, now: int, leaps: Sequence[int]) -> None:
        self.now = now
        self._leaps = list(leaps)

    def __call__(self) -> int:
        now = self.now
        self.now += self._leaps.pop(0) if self._leaps else 0
        return now


async def test_what_comes_late_is_counted_in_the_bucket_of_its_coming(
    redis_server: Server,
) -> None:
    begin = bucket(COARSE, 1_700_000_000_000)
    # It is asked for the buckets, then by the script.
    late = {0: 0, 1: FINE, 2: 3 * FINE, -1: -FINE}
    for leap, by in late.items():
        clock = Leaping(begin, [by])
        async with fresh(redis_server.url, clock) as store:
            await store.tally("w1", 1, [ONE])
            clock.now = begin + COARSE - 1
            assert await told(store, "mail") == [(begin + by, "mail", 1)], leap


async def test_a_server_that_is_always_too_late_is_given_up(redis_server: Server) -> None:
    clock = Leaping(1_700_000_000_000, [COARSE * 3] * 100)
    async with fresh(redis_server.url, clock) as store:
        with pytest.raises(StoreUnavailable, match="so slowly"):
            await store.tally("w1", 1, [ONE])


def test_a_large_tally_is_cut_and_loses_nothing() -> None:
    many = {f"name-{n}": 1 for n in range(MOST_COUNTS + 10)}
    tallies = [Tally(f"q{n:03}", {"completed": 1, "dead": 2}) for n in range(800)]
    cut = list(portions([Tally("big", many), *tallies]))
    assert len(cut) > 3
    assert all(sum(len(counts) for _, counts in part) <= MOST_COUNTS for part in cut)
    total: dict[tuple[str, str], int] = {}
    for part in cut:
        for queue, counts in part:
            for name, number in counts:
                assert (queue, name) not in total
                total[queue, name] = number
    assert total["", "dead"] == 1_600
    assert len(total) == 2 * len(many) + 2 * (800 + 1)
    assert cut == list(portions([*reversed(tallies), Tally("big", many)]))


async def test_a_tally_that_stopped_half_way_goes_on_where_it_was(
    redis_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    tallies = [Tally(f"q{n}", {"completed": 1, f"n{n}": 1}) for n in range(MOST_COUNTS)]
    assert len(list(portions(tallies))) > 2
    async with fresh(redis_server.url) as store:
        shard = store._shards[0]
        run_on = type(shard).run_on
        left = 2

        async def refuse(self: Any, name: str, *rest: Any) -> Any:
            nonlocal left
            if name == "tally":
                left -= 1
                if left < 0:
                    raise StoreUnavailable("gone")
            return await run_on(self, name, *rest)

        with monkeypatch.context() as patch:
            patch.setattr(type(shard), "run_on", refuse)
            with pytest.raises(StoreUnavailable):
                await store.tally("w1", 7, tallies)
        for _ in range(2):
            await store.tally("w1", 7, tallies)
        (whole,) = await store.stats([""], COARSE, 0)
        assert whole.counts["completed"] == MOST_COUNTS
        queues = [tally.queue for tally in tallies]
        points = await store.stats(queues, COARSE, await store.now() - COARSE)
        assert {point.queue: dict(point.counts) for point in points} == {
            tally.queue: dict(tally.counts) for tally in tallies
        }


async def test_a_day_of_many_queues_is_read_in_few_calls(redis_server: Server) -> None:
    async with fresh(redis_server.url) as store:
        await store.tally("w1", 1, [ONE])
        queues = ["mail", *(f"q{n}" for n in range(9))]
        with counted(redis_server.port) as calls:
            assert len(await store.stats(queues, COARSE, 0)) == 1
        assert calls["evalsha"] <= 5


async def test_all_of_it_is_in_one_shard_of_a_cluster(redis_cluster: Cluster) -> None:
    async with fresh(redis_cluster.url) as store:
        for n in range(20):
            await store.tally(f"w{n}", 1, [Tally(f"q{n}", {"completed": 1})])
        found = await told(store, "", *(f"q{n}" for n in range(20)), step=COARSE)
        assert sum(number for _, queue, number in found if queue) == 20
        assert sum(number for _, queue, number in found if not queue) == 20
