"""What workers count, added up in buckets of time by the store's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ...core.stats import COARSE, FINE, KEPT, StatPoint, Tally, bucket
from ...errors import InvalidOption
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import raises

DONE = "completed"


async def points(
    store: Store, *queues: str, step: int = FINE, since: int = 0
) -> list[tuple[int, str, Mapping[str, int]]]:
    found = await store.stats(queues or ("",), step, since)
    assert all(isinstance(point, StatPoint) for point in found)
    return [(point.at, point.queue, dict(point.counts)) for point in found]


async def test_a_new_store_has_counted_nothing(store: Store) -> None:
    assert await points(store, "", "mail") == []
    assert await points(store, step=COARSE) == []


async def test_counts_are_told_by_queue_and_together(
    store: Store, another_store: Store, clock: FakeClock
) -> None:
    await store.tally(
        "w1", 1, [Tally("mail", {DONE: 2, "run:3": 2}), Tally("büro:ü", {DONE: 1, "dead": 1})]
    )
    for step in KEPT:
        now = bucket(step, clock())
        assert await points(another_store, "mail", "", "büro:ü", "other", step=step) == [
            (now, "", {DONE: 3, "run:3": 2, "dead": 1}),
            (now, "büro:ü", {DONE: 1, "dead": 1}),
            (now, "mail", {DONE: 2, "run:3": 2}),
        ]
        assert await points(store, "mail", step=step) == [(now, "mail", {DONE: 2, "run:3": 2})]


async def test_what_several_workers_counted_is_added_up(store: Store, clock: FakeClock) -> None:
    await store.tally("w1", 1, [Tally("mail", {DONE: 2})])
    await store.tally("w2", 1, [Tally("mail", {DONE: 3, "failed": 1}), Tally("ops", {DONE: 1})])
    await store.tally("w1", 2, [Tally("mail", {DONE: 1}), Tally("mail", {DONE: 1})])
    now = bucket(FINE, clock())
    assert await points(store, "mail", "ops", "") == [
        (now, "", {DONE: 8, "failed": 1}),
        (now, "mail", {DONE: 7, "failed": 1}),
        (now, "ops", {DONE: 1}),
    ]


async def test_a_number_that_was_taken_adds_nothing(store: Store, another_store: Store) -> None:
    await store.tally("w1", 5, [Tally("mail", {DONE: 1})])
    await another_store.tally("w1", 5, [Tally("mail", {DONE: 1})])
    await store.tally("w1", 4, [Tally("mail", {DONE: 1})])
    [(_, _, counts)] = await points(store, "mail")
    assert counts == {DONE: 1}
    await another_store.tally("w1", 6, [Tally("mail", {DONE: 1})])
    await store.tally("w2", 1, [Tally("mail", {DONE: 1})])
    [(_, _, counts)] = await points(store, "mail")
    assert counts == {DONE: 3}


async def test_a_number_is_taken_for_a_while_after(store: Store, clock: FakeClock) -> None:
    await store.tally("w1", 5, [Tally("mail", {DONE: 1})])
    clock.advance(120)
    await store.prune(100)
    await store.tally("w1", 5, [Tally("mail", {DONE: 1})])
    assert len(await points(store, "mail")) == 1


async def test_nothing_counted_is_no_bucket(store: Store) -> None:
    await store.tally("w1", 1, [])
    await store.tally("w1", 2, [Tally("mail", {}), Tally("ops", {DONE: 0})])
    assert await points(store, "", "mail", "ops") == []


async def test_a_bucket_begins_with_its_step(store: Store, clock: FakeClock) -> None:
    clock.advance((FINE - clock() % FINE) / 1000)
    start = clock()
    for n in range(4):
        await store.tally("w1", n, [Tally("mail", {DONE: 1})])
        clock.advance(4 if n % 2 == 0 else 6)
    assert await points(store, "mail") == [
        (start, "mail", {DONE: 2}),
        (start + FINE, "mail", {DONE: 2}),
    ]
    [(at, _, counts)] = await points(store, "mail", step=COARSE)
    assert (at, counts) == (bucket(COARSE, start), {DONE: 4})


async def test_only_buckets_that_begin_in_time_are_told(store: Store, clock: FakeClock) -> None:
    first = bucket(FINE, clock())
    for n in range(5):
        await store.tally("w1", n, [Tally("mail", {DONE: n + 1})])
        clock.advance(FINE / 1000)
    found = await points(store, "mail", "", since=first + FINE + 1)
    assert [(at - first, queue) for at, queue, _ in found] == [
        (n * FINE, queue) for n in (2, 3, 4) for queue in ("", "mail")
    ]
    assert len(await points(store, "mail", since=first + FINE)) == 4


async def test_old_buckets_are_gone_pruned_or_not(store: Store, clock: FakeClock) -> None:
    for n in range(2):
        await store.tally("w1", n, [Tally("mail", {DONE: 1}), Tally("ops", {DONE: 1})])
        clock.advance(KEPT[FINE] / 1000)
    for _ in range(2):
        [(at, _, counts)] = await points(store, "mail")
        assert (counts, at >= clock() - KEPT[FINE]) == ({DONE: 1}, True)
        coarse = await points(store, "mail", step=COARSE)
        assert sum(counts[DONE] for _, _, counts in coarse) == 2
        for _ in range(4):
            assert await store.prune(3) == 0
    clock.advance(KEPT[COARSE] / 1000)
    for _ in range(2):
        for step in KEPT:
            assert await points(store, "", "mail", "ops", step=step) == []
        await store.prune(1_000)


async def test_a_step_that_is_not_kept_is_refused(store: Store) -> None:
    with raises(InvalidOption):
        await store.stats([""], 1_000, 0)


async def test_no_queues_have_no_buckets(store: Store) -> None:
    await store.tally("w1", 1, [Tally("mail", {DONE: 1})])
    assert list(await store.stats([], FINE, 0)) == []


async def test_many_tallies_at_once_are_all_counted(store: Store, another_store: Store) -> None:
    names = ["completed", "failed", *(f"run:{n}" for n in range(10))]
    queues = [f"q{n}" for n in range(5)]

    async def count(worker: int, store: Store) -> None:
        # Each in another order: rivals for the same rows must not stand in each other's way.
        shift = worker % len(names)
        counts = dict.fromkeys([*names[shift:], *names[:shift]], 1)
        shift = worker % len(queues)
        for number in range(3):
            await store.tally(
                f"w{worker}",
                number,
                [Tally(queue, counts) for queue in [*queues[shift:], *queues[:shift]]],
            )

    stores = [store, another_store] * 5
    await asyncio.gather(*(count(n, each) for n, each in enumerate(stores)))
    [(_, _, whole)] = await points(store)
    assert whole == dict.fromkeys(names, 10 * 3 * 5)
    for _, _, counts in await points(store, *queues):
        assert counts == dict.fromkeys(names, 10 * 3)


async def test_counts_are_no_queues(store: Store) -> None:
    await store.tally("w1", 1, [Tally("mail", {DONE: 1})])
    assert list(await store.queues()) == []
    assert list(await store.workers()) == []
