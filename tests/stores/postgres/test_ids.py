"""An id is given once over both tables, whoever else is at work on it."""

import asyncio

from tests.servers.server import Server
from tests.stores.postgres.site import emptied, opened
from windlass.core.model import NewJob, Receipt, Transition
from windlass.core.states import State
from windlass.testing.jobs import claim_one, counts, new_job, put

ROUNDS = 30


async def test_an_id_is_given_once_while_its_job_ends(postgres_server: Server) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        for n in range(ROUNDS):
            await put(store, f"job-{n}")
            job = await claim_one(store)
            move = Transition(job.id, job.fence, State.COMPLETED)
            held, receipts = await asyncio.gather(
                store.finish([move]), another.insert([new_job(f"job-{n}")])
            )
            assert held == {job.id}
            assert receipts == [Receipt(f"job-{n}", duplicate=True)]
        assert await counts(store) == {State.COMPLETED: ROUNDS}


async def test_an_id_is_given_once_while_its_job_is_replayed(postgres_server: Server) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        for n in range(ROUNDS):
            await put(store, f"job-{n}")
            assert await store.cancel([f"job-{n}"])
            replayed, receipts = await asyncio.gather(
                store.replay([f"job-{n}"]), another.insert([new_job(f"job-{n}")])
            )
            assert receipts == [Receipt(f"job-{n}", duplicate=True)]
            assert replayed == {f"job-{n}"}
        assert await counts(store) == {State.PENDING: ROUNDS}


async def test_a_key_that_is_freed_meanwhile_is_taken_by_somebody(postgres_server: Server) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        await put(store, "job-0", unique="k")
        for n in range(1, ROUNDS):
            cancelled, [receipt] = await asyncio.gather(
                store.cancel([f"job-{n - 1}"]), another.insert([new_job(f"job-{n}", unique="k")])
            )
            assert cancelled == {f"job-{n - 1}"}
            if receipt.duplicate:
                assert receipt.id == f"job-{n - 1}"
                await put(another, f"job-{n}", unique="k")


async def test_calls_with_the_same_names_in_other_orders_do_not_lock_each_other_out(
    postgres_server: Server,
) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        for n in range(ROUNDS):
            names = [f"{n}-{m}" for m in range(20)]

            def jobs(order: list[str]) -> list[NewJob]:
                return [new_job(name, unique=f"key-{name}") for name in order]

            first, second = await asyncio.gather(
                store.insert(jobs(names)), another.insert(jobs(names[::-1]))
            )
            stored = [each.id for each in [*first, *second] if not each.duplicate]
            assert sorted(stored) == sorted(names)
