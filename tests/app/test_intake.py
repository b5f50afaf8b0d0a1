"""Enqueues of many coroutines, brought to the store together."""

import asyncio
from collections.abc import Sequence

import pytest

from windlass.core.model import NewJob, Receipt, Spec
from windlass.errors import StoreUnavailable
from windlass.intake import LARGEST, Intake
from windlass.stores.memory import MemoryStore


class Counting(MemoryStore):
    """Notes the size of each insert; may wait for a gate before it, and may fail."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.bad: set[str] = set()

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        await self.gate.wait()
        self.sizes.append(len(jobs))
        if self.bad & {job.queue for job in jobs}:
            raise StoreUnavailable("this part of the store is down")
        return await super().insert(jobs)


def job(id: str, queue: str = "default") -> NewJob:
    return NewJob(id, Spec("t", b""), queue)


def ids(jobs: Sequence[NewJob], receipts: Sequence[Receipt]) -> list[str]:
    return [receipt.id for receipt in receipts]


def intake(store: Counting) -> Intake:
    async def opened() -> Counting:
        return store

    return Intake(opened, lambda jobs, error: None)


async def test_callers_of_one_turn_share_few_calls_and_each_gets_its_own() -> None:
    store = Counting()
    asked = intake(store)
    answers = await asyncio.gather(*(asked.put([job(f"j{n}")], ids) for n in range(100)))
    assert answers == [[f"j{n}"] for n in range(100)]
    assert len(store.sizes) <= 4
    assert len(await store.get([f"j{n}" for n in range(100)])) == 100


async def test_one_who_asks_again_as_soon_as_there_is_an_answer_is_heard() -> None:
    asked = intake(Counting())
    async with asyncio.timeout(20):
        for n in range(100):
            assert await asked.put([job(f"j{n}")], ids) == [f"j{n}"]


async def test_what_comes_while_calls_are_under_way_is_the_next_call() -> None:
    store = Counting()
    store.gate.clear()
    asked = intake(store)
    early = [asked.put([job(f"early{n}")], ids) for n in range(2)]
    await asyncio.sleep(0)
    late = [asked.put([job(f"late{n}")], ids) for n in range(50)]
    store.gate.set()
    await asyncio.gather(*early, *late)
    assert len(store.sizes) <= 4


async def test_no_call_is_larger_than_the_limit_but_for_a_single_request() -> None:
    store = Counting()
    asked = intake(store)
    many = asked.put([job(f"many{n}") for n in range(LARGEST + 100)], ids)
    singles = [asked.put([job(f"one{n}")], ids) for n in range(LARGEST + 100)]
    await asyncio.gather(many, *singles)
    assert max(store.sizes) == LARGEST + 100
    assert sorted(store.sizes)[-2] <= LARGEST


async def test_the_fault_of_one_caller_is_not_that_of_the_others() -> None:
    store = Counting()
    store.bad = {"down"}
    asked = intake(store)
    good = [asked.put([job(f"good{n}")], ids) for n in range(5)]
    bad = asked.put([job("bad", "down")], ids)
    assert await asyncio.gather(*good) == [[f"good{n}"] for n in range(5)]
    with pytest.raises(StoreUnavailable):
        await bad


async def test_a_caller_that_gave_up_harms_nobody() -> None:
    store = Counting()
    store.gate.clear()
    asked = intake(store)
    gone, stays = asked.put([job("gone")], ids), asked.put([job("stays")], ids)
    await asyncio.sleep(0)
    gone.cancel()
    store.gate.set()
    assert await stays == ["stays"]
    await asked.settled()
    assert set(await store.get(["gone", "stays"])) == {"gone", "stays"}


async def test_settled_waits_for_what_nobody_awaits() -> None:
    store = Counting()
    asked = intake(store)
    for n in range(10):
        asked.put([job(f"j{n}")], ids)
    await asked.settled()
    assert len(await store.get([f"j{n}" for n in range(10)])) == 10


async def test_an_observer_that_fails_tells_its_own_caller_only() -> None:
    def fails(jobs: Sequence[NewJob], receipts: Sequence[Receipt]) -> None:
        raise ZeroDivisionError

    asked = intake(Counting())
    bad, good = asked.put([job("bad")], fails), asked.put([job("good")], ids)
    assert await good == ["good"]
    with pytest.raises(ZeroDivisionError):
        await bad
