"""What it costs to renew leases."""

from tests.servers.server import Server
from tests.stores.postgres.site import ask, emptied, opened, schema_of
from windlass.core.model import Spec
from windlass.stores.postgres.store import PostgresStore
from windlass.testing.jobs import claim, put

JOBS = 200
LEASE = 30_000
BEAT = 2_000
MINUTE = 60_000


async def test_renewals_are_few_and_touch_no_index(postgres_server: Server) -> None:
    """A minute of beats: the first writes, then one for each quarter of a lease that is gone."""
    now = [1_000_000]
    url = emptied(postgres_server.url)
    schema = schema_of(url)
    figures = (
        "SELECT ARRAY[n_tup_upd, n_tup_hot_upd] FROM pg_stat_user_tables "
        f"WHERE schemaname = '{schema}' AND relname = 'windlass_jobs'"
    )
    async with opened(url, lambda: now[0]) as store:
        await put(store, *[f"job-{n}" for n in range(JOBS)], spec=Spec("work", b"x" * 1_000))
        leases = [job.lease for job in await claim(store, JOBS, lease=LEASE)]
        before = await settled(store, url, figures)
        for _ in range(MINUTE // BEAT):
            now[0] += BEAT
            assert len(await store.renew(leases, LEASE)) == JOBS
        after = await settled(store, url, figures)
    updates, hot = [b - a for a, b in zip(before, after, strict=True)]
    assert updates == JOBS * (1 + (MINUTE - BEAT) // (4 * BEAT))
    assert hot == updates


async def settled(store: PostgresStore, url: str, figures: str) -> list[int]:
    """What the statistics say once they no longer change: a session tells what it did a second
    later, when it does something."""
    found: list[int] = []
    while True:
        await ask(url, "SELECT pg_sleep(1.1)")
        await store.ping()
        now = await ask(url, figures)
        if now == found:
            return found
        found = now


async def test_a_lease_is_renewed_in_time_and_to_a_shorter_one(postgres_server: Server) -> None:
    now = [1_000_000]
    async with opened(emptied(postgres_server.url), lambda: now[0]) as store:
        await put(store, "a")
        [job] = await claim(store, 1, lease=LEASE)
        for _ in range(40):
            now[0] += BEAT
            assert await store.renew([job.lease], LEASE) == {"a"}
            assert await store.rescue(1, LEASE, "rescuer") == ()
        now[0] += LEASE * 3 // 4 - 1
        assert await store.rescue(1, LEASE, "rescuer") == ()
        assert await store.renew([job.lease], 1_000) == {"a"}
        now[0] += 1_001
        assert [each.id for each in await store.rescue(1, LEASE, "rescuer")] == ["a"]
