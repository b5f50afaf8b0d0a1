"""Scripts are files, and an open store needs none of them any more."""

from collections.abc import Iterator

import pytest

from tests.servers import redis
from tests.servers.server import Server
from tests.stores.redis.watch import fresh
from windlass.core.states import State
from windlass.stores.redis import scripts
from windlass.testing.jobs import LEASE, claim_one, finish, put, state_of


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with redis.serve("--appendonly no") as server:
        yield server


async def test_a_store_that_is_open_reads_no_script_from_disk(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts.script.cache_clear()
    scripts.texts.cache_clear()

    def full(*_: object) -> None:
        raise OSError(24, "Too many open files")

    async with fresh(server.url) as store:
        monkeypatch.setattr(scripts, "files", full)
        await put(store, "one")
        job = await claim_one(store)
        assert await finish(store, job, State.COMPLETED)
        assert await store.rescue(10, LEASE, "somebody") == []
        assert await state_of(store, "one") is State.COMPLETED
