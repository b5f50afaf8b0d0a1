"""Records of attempts on Redis: where they lie, how long, and what they cost those without any."""

from typing import Any

import msgspec
import pytest

from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.watch import contents, fresh, fresh_namespace
from windlass.core.attempts import MOST_ATTEMPTS, AttemptRecord, LogLine
from windlass.core.ids import new_id
from windlass.stores.redis.attempts import LARGEST_NOTE, portions
from windlass.stores.redis.keys import attempts_of
from windlass.stores.redis.store import RedisStore
from windlass.testing.jobs import put

HOUR = 3_600_000

replace = msgspec.structs.replace


def record(id: str, fence: int = 1, text: str = "") -> AttemptRecord:
    lines = (LogLine(1, "INFO", "work", text),) if text else ()
    return AttemptRecord(id, "default", fence, fence, "w1", 1_000, lines=lines)


async def ask(store: RedisStore, command: str, id: str, *words: Any) -> Any:
    """What the home of an id says."""
    home = store._shards[store._spread.home(id)]
    return await home.send(command, attempts_of(id), *words)


async def test_a_key_lives_as_long_as_the_last_of_its_records(redis_server: Server) -> None:
    async with fresh(redis_server.url) as store:
        await store.note_attempts([record("a", 1)], HOUR)
        assert HOUR - 60_000 < await ask(store, "PTTL", "a") < HOUR + 120_000
        await store.note_attempts([record("a", 2)], 24 * HOUR)
        await store.note_attempts([record("a", 3)], HOUR)
        assert 23 * HOUR < await ask(store, "PTTL", "a") < 25 * HOUR


async def test_one_that_is_over_at_once_leaves_no_key_for_ever(redis_server: Server) -> None:
    async with fresh(redis_server.url) as store:
        await store.note_attempts([record("a")], 0)
        assert await store.attempts(["a"]) == {}
        assert 0 < await ask(store, "PTTL", "a") < HOUR


async def test_the_greatest_fences_stay(redis_server: Server) -> None:
    # Those of a Cluster go by the time. As text, or by a locale, they would be in another order.
    fences = [9, 10, 255, 256, 1_700_000_000_000 * 1024, 2**53]
    fences += [1_000 + n for n in range(MOST_ATTEMPTS)]
    async with fresh(redis_server.url) as store:
        for fence in fences:
            await store.note_attempts([record("a", fence)], HOUR)
        kept = (await store.attempts(["a"]))["a"]
        assert [each.fence for each in kept] == sorted(fences)[-MOST_ATTEMPTS:]
        assert await ask(store, "HLEN", "a") == MOST_ATTEMPTS


@pytest.mark.parametrize("harm", [b"", b"\xff", b"x" * 8, b"\x7f" + b"\0" * 7 + b"\xc1noise"])
async def test_a_damaged_record_hides_no_other(redis_server: Server, harm: bytes) -> None:
    async with fresh(redis_server.url) as store:
        await store.note_attempts([record("a", 1), record("a", 2), record("b", 1)], HOUR)
        await ask(store, "HSET", "a", (1).to_bytes(8, "big"), harm)
        found = await store.attempts(["a", "b"])
        assert found == {"a": [record("a", 2)], "b": [record("b", 1)]}
        await ask(store, "HSET", "b", (1).to_bytes(8, "big"), harm)
        assert (await store.attempts(["a", "b"])).keys() == {"a"}


async def test_nothing_is_left_of_jobs_that_were_deleted(redis_server: Server) -> None:
    namespace = fresh_namespace()
    async with fresh(redis_server.url, namespace=namespace) as store:
        before = contents(redis_server.port, namespace)
        ids = [new_id() for _ in range(3)]
        await put(store, *ids, "own")
        await store.note_attempts([record(id) for id in (*ids, "own")], HOUR)
        assert await store.delete([*ids, "own"]) == {*ids, "own"}
        left = contents(redis_server.port, namespace)
    assert {key for key in left if not key.endswith(b":meta")} == {
        key for key in before if not key.endswith(b":meta")
    }


async def test_on_a_cluster_they_are_found_and_deleted_wherever_the_job_is(
    redis_cluster: Cluster,
) -> None:
    async with fresh(redis_cluster.url, partitions="hot:8") as store:
        ids = [f"job-{n}" for n in range(40)]
        await put(store, *ids[:20], queue="hot")
        await put(store, *ids[20:], queue="cold")
        # What a record says of the queue is of no consequence.
        records = [replace(record(id), queue=f"was-{n}") for n, id in enumerate(ids)]
        await store.note_attempts(records, HOUR)
        homes = {store._spread.home(id) for id in ids}
        assert len(homes) > 8
        found = await store.attempts(ids)
        assert list(found) == ids
        assert [own for (own,) in found.values()] == records
        assert await store.delete(ids[:30]) == set(ids[:30])
        assert list(await store.attempts(ids)) == ids[30:]


def test_one_script_is_given_a_bounded_number_of_bytes_and_records() -> None:
    large = [record(f"l{n}", text="x" * (LARGEST_NOTE // 3)) for n in range(5)]
    huge = record("h", text="x" * (2 * LARGEST_NOTE))
    small = [record(f"s{n}") for n in range(1_200)]
    cut = [[each.id for each, _ in part] for part in portions([*large, huge, *small])]
    assert cut[:4] == [["l0", "l1"], ["l2", "l3"], ["l4"], ["h"]]
    assert [len(part) for part in cut[4:]] == [500, 500, 200]
    assert list(portions([])) == []
