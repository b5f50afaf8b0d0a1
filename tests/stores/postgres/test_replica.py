"""A replica takes no writes: it is told in one sentence, and used from when it is promoted."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.servers import postgres
from tests.servers.proxy import forward
from tests.servers.server import Server
from tests.stores.postgres.site import ask, fresh, opened, schema_of
from tests.stores.site import words, working
from windlass.core.states import State
from windlass.errors import StoreError, StoreUnavailable
from windlass.history.open import open_archive
from windlass.stores.open import open_store
from windlass.testing.jobs import claim, counts, new_job, put

SOON = 20.0
"""In seconds: far less than any lease, and room for a busy machine."""


@contextmanager
def serve_pair() -> Iterator[tuple[Server, Server]]:
    with postgres.serve() as primary, postgres.serve_replica(primary) as replica:
        yield primary, replica


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Server, Server]]:
    """A primary and its replica, which stay what they are."""
    with serve_pair() as pair:
        yield pair


async def caught_up(primary: Server, replica: Server) -> None:
    """Wait until the replica has all that the primary has written."""
    written = await ask(primary.url, "SELECT pg_current_wal_lsn()::text")
    async with asyncio.timeout(SOON):
        while not await ask(
            replica.url, "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn", written
        ):
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("migrate", ["on", "off"])
@pytest.mark.parametrize("there", [True, False], ids=["tables", "no-tables"])
async def test_it_is_not_opened(pair: tuple[Server, Server], there: bool, migrate: str) -> None:
    primary, replica = pair
    url = fresh(primary.url, migrate=migrate)
    if there:
        await open_store(url.replace("migrate=off", "migrate=on")).migrate()
        await caught_up(primary, replica)
    before = await tables(primary)
    url = url.replace(f":{primary.port}/", f":{replica.port}/")
    for place in (open_store(url), open_archive(url)):
        with pytest.raises(StoreError) as caught:
            await place.open()
        await place.close()
        assert str(caught.value) == (
            f"PostgreSQL at 127.0.0.1:{replica.port} is a read-only replica: name the primary in "
            "the URL, or all servers and target_session_attrs=read-write."
        )
    assert await tables(primary) == before


async def tables(server: Server) -> int:
    number: int = await ask(server.url, "SELECT count(*) FROM pg_class")
    return number


async def test_what_it_refuses_is_told_and_not_half_done(pair: tuple[Server, Server]) -> None:
    primary, replica = pair
    direct = fresh(primary.url, patience="0.2")
    with forward(primary.port) as proxy:
        async with opened(direct) as observer, opened(proxy.through(direct)) as store:
            await put(store, "a")
            await caught_up(primary, replica)
            proxy.lead(replica.port)
            # By one statement, and by a transaction of several.
            for jobs in ([new_job("b", fresh=True)], [new_job("b"), new_job("c", unique="key")]):
                with pytest.raises(
                    StoreUnavailable, match=r"read-only transaction|during recovery"
                ) as caught:
                    await store.insert(jobs)
                assert "\n" not in str(caught.value)
            with pytest.raises(StoreUnavailable, match=r"read-only transaction|during recovery"):
                await claim(store)
            assert await counts(observer) == {State.PENDING: 1}
            proxy.lead(primary.port)
            assert [job.id for job in await claim(store)] == ["a"]


async def test_it_is_passed_over_where_all_hosts_are_named(pair: tuple[Server, Server]) -> None:
    primary, replica = pair
    url = fresh(primary.url, target_session_attrs="read-write")
    async with opened(named_both(url, replica, primary)) as store:
        await put(store, "a")
        assert await ask(primary.url, f"SELECT count(*) FROM {schema_of(url)}.windlass_jobs") == 1


def named_both(url: str, first: Server, second: Server) -> str:
    front, _, rest = url.partition("@")
    _, _, path = rest.partition("/")
    return f"{front}@127.0.0.1:{first.port},127.0.0.1:{second.port}/{path}"


async def test_a_worker_and_a_producer_go_on_with_the_replica_that_is_promoted() -> None:
    """The worker knows both hosts, the producer one address, which follows the primary.

    Nothing that had reached the replica is lost or run twice, and a call that is made before the
    promotion waits for it.
    """
    with serve_pair() as (primary, replica), forward(primary.port) as proxy:
        url = fresh(primary.url, target_session_attrs="read-write", patience="60")
        async with working(named_both(url, primary, replica), proxy.through(url)) as site:
            kept = await site.enqueue(*words("kept", 20), delay=1.0)
            await caught_up(primary, replica)
            await asyncio.to_thread(primary.kill)
            proxy.lead(replica.port)
            waiting = asyncio.create_task(site.enqueue(*words("kept-waiting", 3)))
            done, _ = await asyncio.wait([waiting], timeout=0.5)
            assert not done
            await asyncio.to_thread(postgres.promote, replica)
            assert await site.proves_well(time.monotonic()) < SOON
            for handle in (*kept, *await waiting):
                await handle.aresult(timeout=SOON)
            runs = [n for word, n in site.runs.items() if word.startswith("kept")]
            assert runs == [1] * 23
