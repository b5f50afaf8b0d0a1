"""Claims that are bounded by the bytes of payload that they give, and not by number alone."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.lane import Lane
from ...core.model import Job, Spec
from ...core.states import State
from ...stores.contract import Store
from ..jobs import LEASE, claim, claim_all, counts, ids, job_of, new_job, put

LARGE = 100_000
SMALL = 3_000


def heavy(size: int = LARGE, **options: object) -> Spec:
    """A job with so many bytes of payload, each its own."""
    return Spec("work", bytes(n % 251 for n in range(size)), **options)  # type: ignore[arg-type]


async def within(store: Store, most_bytes: int, *queues: str, limit: int = 100) -> Sequence[Job]:
    caps = dict.fromkeys(queues or ("default",), limit)
    return await store.claim(caps, limit, LEASE, "w1", most_bytes)


async def test_a_claim_ends_before_it_gives_too_much(store: Store) -> None:
    for size in (SMALL, LARGE):
        queue = str(size)
        names = [f"{size}-{n}" for n in range(10)]
        await put(store, *names, spec=heavy(size), queue=queue)
        given = [ids(await within(store, size * 7 // 2, queue)) for _ in range(4)]
        assert given == [names[:3], names[3:6], names[6:9], names[9:]]


async def test_what_was_left_is_as_it_was(store: Store) -> None:
    await put(store, "a", "b", "c", "d", spec=heavy())
    before = await store.get(["c", "d"])
    first = await within(store, LARGE * 5 // 2)
    assert ids(first) == ["a", "b"]
    assert await store.get(["c", "d"]) == before
    assert await counts(store) == {State.ACTIVE: 2, State.PENDING: 2}
    second = await within(store, LARGE * 5 // 2)
    assert ids(second) == ["c", "d"]
    assert {job.attempt for job in (*first, *second)} == {1}
    assert second[0].fence > first[0].fence


async def test_the_first_job_is_given_whatever_its_size(store: Store) -> None:
    await put(store, "a", "b", spec=heavy())
    for id in ("a", "b"):
        [job] = await within(store, 10)
        assert job.id == id
        assert job.spec == heavy()
        assert await job_of(store, id) == job


async def test_all_of_a_large_payload_comes(store: Store) -> None:
    specs = {str(size): heavy(size) for size in (0, 1, 4_000, 5_000, 16_000, 17_000, LARGE)}
    await store.insert([new_job(id, spec) for id, spec in specs.items()])
    assert {job.id: job.spec for job in await claim_all(store)} == specs


async def test_a_job_that_does_not_fit_is_not_overtaken(store: Store) -> None:
    await put(store, "small", spec=heavy(SMALL), queue="one")
    await put(store, "large", spec=heavy(), queue="one")
    await put(store, "behind", spec=heavy(SMALL), queue="one")
    await put(store, "other", spec=heavy(SMALL), queue="two")
    assert ids(await within(store, LARGE, "one", "two")) == ["small"]
    assert ids(await within(store, LARGE * 2, "one", "two")) == ["large", "behind", "other"]


async def test_bytes_are_counted_over_queues(store: Store) -> None:
    for queue in ("one", "two", "three", "four"):
        await put(store, f"{queue}-a", f"{queue}-b", spec=heavy(), queue=queue)
    first = ids(await within(store, LARGE * 7 // 2, "one", "two", "three", "four"))
    assert first == ["one-a", "one-b", "two-a"]
    second = ids(await within(store, LARGE * 7 // 2, "one", "two", "three", "four"))
    assert second == ["two-b", "three-a", "three-b"]


async def test_priorities_and_what_was_given_back_keep_their_order(store: Store) -> None:
    await put(store, "a", "b", spec=heavy())
    await put(store, "urgent", "next", spec=heavy(), priority=90)
    assert ids(await within(store, LARGE * 3 // 2)) == ["urgent"]
    rest: list[str] = []
    while given := ids(await within(store, LARGE * 5 // 2)):
        # A claim may give fewer than there are.
        assert len(given) <= 2
        rest += given
    assert rest == ["next", "a", "b"]


async def test_without_a_word_there_is_a_bound(store: Store) -> None:
    spec = heavy(1_000_000)
    for n in range(20):
        await put(store, f"{n:02}", spec=spec)
    first = await claim(store)
    assert ids(first) == [f"{n:02}" for n in range(16)]
    assert ids(await claim(store)) == [f"{n:02}" for n in range(16, 20)]


async def test_jobs_of_lanes_are_bounded_as_well(store: Store) -> None:
    limited = heavy(lane=Lane("l", slots=10))
    await put(store, "a", "b", "c", "d", spec=limited)
    assert ids(await within(store, LARGE * 5 // 2)) == ["a", "b"]
    assert ids(await within(store, LARGE * 5 // 2)) == ["c", "d"]
    counted = heavy(lane=Lane("r", starts=10, per=60_000))
    await put(store, "e", "f", "g", spec=counted)
    assert ids(await within(store, LARGE * 5 // 2)) == ["e", "f"]
    assert ids(await within(store, LARGE * 5 // 2)) == ["g"]


async def test_as_many_come_along_as_there_is_room_for(store: Store) -> None:
    batch = heavy(lane=Lane("b", size=4, grace=1_000, longest=5_000))
    await put(store, "a", "b", "c", "d", spec=batch)
    claimed = await within(store, LARGE * 7 // 2)
    assert ids(claimed) == ["a", "b", "c"]
    assert all(job.spec.payload == batch.payload for job in claimed)
    await put(store, "e", "f", "g", spec=batch)
    assert ids(await within(store, LARGE * 9 // 2)) == ["d", "e", "f", "g"]


async def test_those_that_come_along_take_of_what_there_is_for_all(store: Store) -> None:
    batch = heavy(lane=Lane("b", size=5, grace=1_000, longest=5_000))
    await put(store, *(f"{n:02}" for n in range(20)), spec=batch)
    given: list[str] = []
    while found := ids(await within(store, LARGE * 9 // 2)):
        assert len(found) <= 4
        given += found
    assert len(given) >= 16
    assert len({*given}) == len(given)


async def test_a_batch_of_jobs_that_are_too_large_has_one(store: Store) -> None:
    batch = heavy(lane=Lane("b", size=2, grace=1_000, longest=5_000))
    await put(store, "a", "b", spec=batch)
    assert ids(await within(store, LARGE // 2)) == ["a"]
