"""A server that could not write its snapshot refuses writes until it can: an outage as others."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from tests.servers import redis
from tests.servers.process import wait_until
from tests.servers.redis import tell
from tests.servers.server import Server
from tests.stores.redis.watch import fresh
from windlass.errors import StoreUnavailable
from windlass.testing.jobs import put


@pytest.fixture
def server() -> Iterator[Server]:
    with redis.serve("--appendonly no", "--save '3600 1'") as server:
        yield server


def snapshot(server: Server, status: str) -> None:
    def is_told() -> bool:
        if tell(server.port, "INFO", "persistence")["rdb_bgsave_in_progress"] == 0:
            tell(server.port, "BGSAVE")
        return bool(tell(server.port, "INFO", "persistence")["rdb_last_bgsave_status"] == status)

    assert wait_until(is_told)


async def test_writes_go_on_when_the_disk_is_well_again(server: Server) -> None:
    url = server.url
    async with fresh(url, patience="0.5") as store, fresh(url, patience="30") as patient:
        await put(store, "before")
        dump = server.folder / "dump.rdb"
        # In the place of the file, what cannot be replaced by one.
        dump.unlink(missing_ok=True)
        (dump / "full").mkdir(parents=True)
        await asyncio.to_thread(snapshot, server, "err")
        with pytest.raises(StoreUnavailable, match="MISCONF"):
            await put(store, "refused")
        waiting = asyncio.create_task(put(patient, "patient"))
        os.rmdir(dump / "full")
        os.rmdir(dump)
        await asyncio.to_thread(snapshot, server, "ok")
        await waiting
