"""A replica takes no writes: it is told in one sentence, and used from when it is promoted."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from tests.servers import mariadb
from tests.servers.mysql_client import query
from tests.servers.proxy import forward
from tests.servers.server import Server
from tests.stores.mysql.site import fresh, named, opened
from tests.stores.site import words, working
from windlass.core.states import State
from windlass.errors import StoreError, StoreUnavailable
from windlass.history.open import open_archive
from windlass.stores.open import open_store
from windlass.testing.jobs import claim, counts, new_job, put

SOON = 20.0
"""In seconds: far less than any lease, and room for a busy machine."""


@pytest.fixture
def pair() -> Iterator[tuple[Server, Server]]:
    """A primary and its replica. `plain` is no administrator, whom a replica would let write."""
    with (
        mariadb.serve("--server-id=1", "--log-bin") as primary,
        mariadb.serve_replica(primary) as replica,
    ):
        query(
            primary.url,
            "CREATE USER plain@'127.0.0.1'",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON windlass.* TO plain@'127.0.0.1'",
            "GRANT CREATE, ALTER ON windlass.* TO plain@'127.0.0.1'",
        )
        yield primary, replica


async def caught_up(primary: Server, replica: Server) -> None:
    """Wait until the replica has all that the primary has written."""
    [(written,)] = query(primary.url, "SELECT @@gtid_binlog_pos")
    asked = f"SELECT MASTER_GTID_WAIT('{written}', {SOON})"
    [(answer,)] = await asyncio.to_thread(query, replica.url, asked)
    assert answer == 0


def as_plain(url: str) -> str:
    return url.replace("windlass@", "plain@")


def tables(server: Server) -> list[tuple[str]]:
    return query(server.url, "SHOW TABLES IN windlass")


async def test_a_replica_is_refused_until_it_is_promoted(pair: tuple[Server, Server]) -> None:
    """One test, as two servers take their time to start."""
    primary, replica = pair
    direct = as_plain(fresh(primary.url))
    with forward(primary.port) as proxy:
        url = proxy.through(direct)
        async with opened(url) as store, working(url, url) as site:
            kept = await site.enqueue(*words("kept", 20), delay=1.0)
            await put(store, "a", queue="other")
            await caught_up(primary, replica)
            await _is_not_opened(replica)
            await asyncio.to_thread(primary.kill)
            proxy.lead(replica.port)
            # By statements that nobody waits for, and by a transaction that looks first.
            for jobs in ([new_job("b", fresh=True)], [new_job("b"), new_job("c", unique="key")]):
                with pytest.raises(StoreUnavailable, match="is read-only"):
                    await store.insert(jobs)
            with pytest.raises(StoreUnavailable, match="is read-only"):
                await claim(store, queue="other")
            await asyncio.to_thread(mariadb.promote, replica)
            assert [job.id for job in await claim(store, queue="other")] == ["a"]
            assert (await counts(store, "other")) == {State.ACTIVE: 1}
            assert await site.proves_well(time.monotonic()) < SOON
            for handle in kept:
                await handle.aresult(timeout=SOON)
            assert [n for word, n in site.runs.items() if word.startswith("kept")] == [1] * 20
            assert query(replica.url, f"SELECT * FROM {named(url, 'jobs')} WHERE id = 'b'") == []


async def _is_not_opened(replica: Server) -> None:
    url, before = as_plain(fresh(replica.url)), tables(replica)
    for place in (open_store(url), open_archive(url)):
        with pytest.raises(
            StoreError, match=r"^MySQL at \S+ is read-only \(.+\); use the URL"
        ) as e:
            await place.open()
        await place.close()
        assert "\n" not in str(e.value)
    assert tables(replica) == before
