"""Many jobs that are due at one moment slow no claims, and all of them come."""

import pytest

from tests.servers.server import Server
from tests.stores import site
from tests.stores.mysql.site import emptied
from windlass.core.states import State
from windlass.stores.contract import PROMOTE_BATCH
from windlass.stores.sql import promotion
from windlass.stores.sql.store import SqlStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import claim, counts, ids, put

MORE = 250


@pytest.fixture(params=["sqlite", "mariadb"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{request.getfixturevalue('tmp_path')}/jobs.db"
    server: Server = request.getfixturevalue("mariadb_server")
    return emptied(server.url)


async def test_a_batch_is_enough_for_many_claims(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "LONGEST", 600.0)
    monkeypatch.setattr(promotion, "SHARE", 1e9)
    clock = FakeClock()
    jobs = [f"job-{n:04}" for n in range(PROMOTE_BATCH + MORE)]
    async with site.opened(url, SqlStore, clock) as store:  # type: ignore[type-abstract]
        await put(store, *jobs, delay=1_000)
        clock.advance(1)
        seen = ids(await claim(store, 10))
        for _ in range(5):
            assert (await counts(store))[State.SCHEDULED] == MORE
            seen += ids(await claim(store, 10))
        await put(store, "beside", queue="beside", delay=1_000)
        clock.advance(1)
        both = await store.claim({"default": 10, "beside": 10}, 20, 60_000, "w")
        assert ids(both)[10:] == ["beside"]
        seen += ids(both)[:10]
        while some := await claim(store, 100):
            seen += ids(some)
        assert seen == jobs
