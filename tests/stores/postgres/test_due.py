"""Many jobs that are due at one moment do not slow down the claims before them."""

from tests.servers.server import Server
from tests.stores.postgres.site import emptied, opened
from windlass.stores.contract import PROMOTE_BATCH
from windlass.testing.jobs import claim, ids, new_job

MANY = 3 * PROMOTE_BATCH


async def test_most_claims_leave_what_is_due_to_others(postgres_server: Server) -> None:
    """One makes a batch of them pending, and the ones after it are given from that."""
    now = [1_000_000]
    async with opened(emptied(postgres_server.url), lambda: now[0]) as store:
        for n in range(0, MANY, 500):
            jobs = [new_job(f"job-{k:05}", fresh=True, delay=1_000) for k in range(n, n + 500)]
            await store.insert(jobs)
        now[0] += 2_000
        store._look_at = 0.0
        first = await claim(store, 10)
        store._look_at = float("inf")
        given = [*first]
        sent: list[str] = []
        async with store._base._pool.connection() as connection:  # type: ignore[union-attr]
            connection.raw.add_query_logger(lambda record: sent.append(record.query))
        while len(given) < PROMOTE_BATCH:
            given += await claim(store, 10)
        assert ids(given) == [f"job-{n:05}" for n in range(PROMOTE_BATCH)]
        assert not [query for query in sent if query == store._base._compiled["promote"].text]
        # With nothing left, the next ones are made pending at once.
        store._look_at = float("inf")
        assert ids(await claim(store, 5)) == [f"job-{n:05}" for n in range(1_000, 1_005)]
