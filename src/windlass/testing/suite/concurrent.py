"""Several handles at once: each step is atomic, so exactly one of two rivals wins."""

from __future__ import annotations

import asyncio

from ...core.model import Receipt, Transition
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    LEASE,
    claim,
    claim_one,
    counts,
    finish,
    foreign,
    ids,
    listing,
    new_job,
    put,
    state_of,
)


async def test_no_job_goes_to_two_workers(store: Store, another_store: Store) -> None:
    names = [f"job-{n:03}" for n in range(200)]
    await put(store, *names)
    batches = await asyncio.gather(
        *(claim(each, 7, worker=f"w{n}") for n in range(20) for each in (store, another_store))
    )
    claimed = [id for batch in batches for id in ids(batch)]
    assert sorted(claimed) == names
    assert await counts(store) == {State.ACTIVE: 200}


async def test_no_job_is_rescued_twice(
    store: Store, another_store: Store, clock: FakeClock
) -> None:
    names = [f"job-{n:03}" for n in range(60)]
    await put(store, *names)
    await claim(store)
    clock.advance(60)
    batches = await asyncio.gather(
        *(each.rescue(9, LEASE, "w") for _ in range(5) for each in (store, another_store))
    )
    assert sorted(id for batch in batches for id in ids(batch)) == names


async def test_no_id_is_accepted_twice(store: Store, another_store: Store) -> None:
    batch = [new_job(f"job-{n}") for n in range(20)]
    answers = await asyncio.gather(
        *(each.insert(batch) for _ in range(4) for each in (store, another_store))
    )
    accepted = [receipt.id for answer in answers for receipt in answer if not receipt.duplicate]
    assert sorted(accepted) == sorted(job.id for job in batch)
    assert await counts(store) == {State.PENDING: 20}


async def test_no_key_has_two_holders(store: Store, another_store: Store) -> None:
    answers = await asyncio.gather(
        *(
            each.insert([new_job(f"{n}-{m}", unique="k")])
            for n in range(5)
            for m, each in enumerate((store, another_store))
        )
    )
    receipts = [receipt for answer in answers for receipt in answer]
    [accepted] = [receipt for receipt in receipts if not receipt.duplicate]
    assert set(receipts) == {accepted, Receipt(accepted.id, duplicate=True)}
    assert await counts(store) == {State.PENDING: 1}


async def test_a_job_is_finished_once(store: Store, another_store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    move = Transition(job.id, job.fence, State.COMPLETED)
    answers = await asyncio.gather(
        *(each.finish([move]) for _ in range(5) for each in (store, another_store))
    )
    assert sorted(map(len, answers)) == [0] * 9 + [1]
    assert await counts(store) == {State.COMPLETED: 1}


async def test_a_job_is_either_finished_or_cancelled(store: Store, another_store: Store) -> None:
    for n in range(20):
        await put(store, f"job-{n}")
        job = await claim_one(store)
        done, cancelled = await asyncio.gather(
            finish(store, job, State.COMPLETED), another_store.cancel([job.id])
        )
        assert done is not (cancelled == {job.id})
        expected = State.COMPLETED if done else State.CANCELLED
        assert await state_of(store, job.id) is expected


async def test_a_job_is_either_renewed_or_rescued(
    store: Store, another_store: Store, clock: FakeClock
) -> None:
    for n in range(20):
        await put(store, f"job-{n}")
        job = await claim_one(store, lease=1_000)
        clock.advance(1)
        renewed, rescued = await asyncio.gather(
            store.renew([job.lease], 1_000_000), another_store.rescue(1, 1_000_000, "w2")
        )
        assert (renewed == {job.id}) is not (ids(rescued) == [job.id])


async def test_a_role_has_one_winner(store: Store, another_store: Store) -> None:
    terms = await asyncio.gather(
        *(
            each.elect("r", f"{n}-{m}", 1_000)
            for n in range(5)
            for m, each in enumerate((store, another_store))
        )
    )
    assert len([term for term in terms if term is not None]) == 1


async def test_nothing_is_lost_between_busy_workers(store: Store, another_store: Store) -> None:
    names = [f"job-{n:03}" for n in range(100)]
    done: list[str] = []

    async def insert(each: Store, part: list[str]) -> None:
        for start in range(0, len(part), 10):
            await put(each, *part[start : start + 10])
            await asyncio.sleep(0)

    async def work(each: Store, worker: str) -> None:
        for _ in range(1_000):
            if len(done) == len(names):
                return
            jobs = await claim(each, 5, worker=worker)
            moves = [Transition(job.id, job.fence, State.COMPLETED) for job in jobs]
            done.extend(await each.finish(moves))
            await asyncio.sleep(0)

    await asyncio.gather(
        insert(store, names[:50]),
        insert(another_store, names[50:]),
        *(work(each, f"w{n}") for n in range(2) for each in (store, another_store)),
    )
    assert sorted(done) == names
    assert await counts(store) == {State.COMPLETED: 100}


async def test_jobs_that_come_from_two_sides_at_once_are_there_once(
    store: Store, another_store: Store
) -> None:
    for turn in range(5):
        names = [f"{turn}-{n}" for n in range(40)]
        jobs = [
            foreign(id, State.DEAD, finished_at=1_600_000_000_001) if n % 2 else foreign(id)
            for n, id in enumerate(names)
        ]
        await asyncio.gather(
            store.restore(jobs),
            another_store.restore(jobs[::-1]),
            another_store.insert([new_job(id) for id in names[10:30]]),
        )
        assert sorted(ids(await listing(store))) == sorted(names)
        number = sum((await counts(store)).values())
        assert number == len(names)
        assert await store.delete(names) == set(names)
