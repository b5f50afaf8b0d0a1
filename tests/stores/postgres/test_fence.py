"""No fence comes twice, whatever a server has forgotten."""

from tests.servers.server import Server
from tests.stores.postgres.site import ask, emptied, opened, schema_of
from windlass.core.states import State
from windlass.testing.jobs import claim, claim_one, finish, put


async def test_a_copy_that_is_put_back_repeats_no_fence(postgres_server: Server) -> None:
    """What was given after the copy was made is below what the copy gives."""
    base = postgres_server.url.rpartition("/")[0]
    await ask(postgres_server.url, "DROP DATABASE IF EXISTS original")
    await ask(postgres_server.url, "DROP DATABASE IF EXISTS copy")
    await ask(postgres_server.url, "CREATE DATABASE original")
    async with opened(f"{base}/original") as store:
        await put(store, *[f"job-{n}" for n in range(30)])
        await claim_one(store)
    await ask(postgres_server.url, "CREATE DATABASE copy TEMPLATE original")
    given: list[int] = []
    async with opened(f"{base}/original") as store:
        for _ in range(20):
            job = await claim_one(store)
            assert await finish(store, job, State.RETRY)
            given.append(job.fence)
        given += [job.fence for job in await claim(store, 9, lease=1)]
        while not (rescued := await store.rescue(9, 1_000, "rescuer")):
            pass
        given += [job.fence for job in rescued]
    async with opened(f"{base}/copy") as store:
        again = [(await claim_one(store)).fence for _ in range(20)]
    assert min(again) > max(given)


async def test_a_fence_grows_though_the_clock_was_set_back(postgres_server: Server) -> None:
    """As if the last fences had been given an hour ahead."""
    url = emptied(postgres_server.url)
    async with opened(url) as store:
        await put(store, "a", "b")
        ahead = (await store.now() + 3_600_000) * 1024
        await ask(url, f"UPDATE {schema_of(url)}.windlass_jobs SET fence = {ahead}")
        jobs = await claim(store, 2, lease=1)
        assert {job.fence for job in jobs} == {ahead + 1}
        while not (rescued := await store.rescue(9, 1_000, "rescuer")):
            pass
        assert {job.fence for job in rescued} == {ahead + 2}


async def test_a_fence_tells_the_time_of_the_server(postgres_server: Server) -> None:
    async with opened(emptied(postgres_server.url)) as store:
        await put(store, "a")
        before = await store.now()
        job = await claim_one(store)
        assert before * 1024 <= job.fence <= (await store.now()) * 1024 + 65_536
