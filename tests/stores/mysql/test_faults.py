"""What the server refuses is told in one sentence, and nothing is half done."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from tests.servers import mariadb
from tests.servers.mysql_client import query
from tests.servers.proxy import forward
from tests.servers.server import Server
from tests.stores.mysql.site import fresh, named, opened
from windlass.core.model import NewJob, Spec
from windlass.core.states import State
from windlass.errors import PayloadTooLarge, SchemaMismatch, StoreError, StoreUnavailable
from windlass.stores.mysql.link import check_version
from windlass.stores.open import open_store
from windlass.testing.jobs import counts, new_job, put


@pytest.fixture
def url(mariadb_server: Server) -> str:
    return fresh(mariadb_server.url, patience="0.5")


async def refused(url: str) -> str:
    store = open_store(url)
    with pytest.raises(StoreError) as caught:
        await store.open()
    await store.close()
    return str(caught.value)


async def test_wrong_credentials(url: str) -> None:
    said = await refused(url.replace("windlass@", "nobody:secret@"))
    assert "refuses this user" in said
    assert "secret" not in said


async def test_a_database_that_is_not_there(url: str) -> None:
    said = await refused(url.replace("/windlass?", "/nowhere?"))
    assert "has no such database" in said and "create it first" in said


async def test_nobody_at_the_address(url: str, mariadb_server: Server) -> None:
    said = await refused(url.replace(f":{mariadb_server.port}/", ":1/"))
    assert "does not answer" in said


@pytest.mark.parametrize(
    "version", ["5.7.44-log", "8.0.4-rc", "10.5.23-MariaDB", "5.5.5-10.3.39-MariaDB-log"]
)
def test_a_server_that_is_too_old(version: str) -> None:
    with pytest.raises(StoreError, match=r"is too old: windlass needs SKIP LOCKED"):
        check_version(version, "MySQL at host")


def says(version: str) -> Callable[[bytes], bytes]:
    """Changes a server's greeting: a packet of protocol 10, the version, a zero, and the rest."""

    def edit(packet: bytes) -> bytes:
        _, _, rest = packet[5:].partition(b"\0")
        body = b"\x0a" + version.encode() + b"\0" + rest
        return len(body).to_bytes(3, "little") + packet[3:4] + body

    return edit


@pytest.mark.parametrize("version", ["5.7.44-log", "5.5.5-10.5.23-MariaDB-1:10.5.23"])
async def test_a_server_that_says_it_is_too_old(
    version: str, url: str, mariadb_server: Server
) -> None:
    tables = "SHOW TABLES IN windlass"
    before = query(mariadb_server.url, tables)
    with forward(mariadb_server.port, says(version)) as proxy:
        for more in ("", "&migrate=off"):
            said = await refused(proxy.through(url) + more)
            assert f"is {version}, which is too old: windlass needs" in said
            assert said.endswith(".")
            assert "\n" not in said
    assert query(mariadb_server.url, tables) == before
    with forward(mariadb_server.port, says("5.5.5-10.6.0-MariaDB")) as proxy:
        async with opened(proxy.through(url)) as store:
            await put(store, "a")


@pytest.mark.parametrize(
    "version",
    ["8.0.11", "8.4.2", "9.1.0", "10.6.0-MariaDB", "5.5.5-10.11.6-MariaDB-1", "11.4.2-MariaDB"],
)
def test_servers_that_are_young_enough(version: str) -> None:
    check_version(version, "MySQL at host")


async def test_tables_that_are_not_there(url: str) -> None:
    async with opened(f"{url}&migrate=off") as store:
        with pytest.raises(SchemaMismatch, match="run `windlass migrate`"):
            await store.insert([new_job("a")])


@pytest.fixture(scope="module")
def replica() -> Iterator[Server]:
    """A server that can be made read-only, which no other test must meet."""
    with mariadb.serve() as server:
        query(
            server.url,
            "CREATE USER plain@'127.0.0.1'",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON windlass.* TO plain@'127.0.0.1'",
            "GRANT CREATE, ALTER ON windlass.* TO plain@'127.0.0.1'",
        )
        yield server


async def test_a_server_that_takes_no_writes(replica: Server) -> None:
    url = fresh(replica.url, patience="0").replace("windlass@", "plain@")
    async with opened(url) as store:
        await put(store, "a")
        query(replica.url, "SET GLOBAL read_only = 1")
        try:
            with pytest.raises(StoreUnavailable, match="is read-only"):
                await store.insert([new_job("b")])
            assert "is read-only" in await refused(fresh(url.partition("?")[0]))
            assert await counts(store) == {State.PENDING: 1}
        finally:
            query(replica.url, "SET GLOBAL read_only = 0")
        await put(store, "c")


async def test_a_job_that_does_not_fit_into_a_packet_is_refused_and_harms_no_other(
    replica: Server,
) -> None:
    query(replica.url, "SET GLOBAL max_allowed_packet = 1048576")
    async with opened(fresh(replica.url)) as store:
        large = Spec("work", b"x" * 2_000_000)
        with pytest.raises(PayloadTooLarge, match="max_allowed_packet"):
            await store.insert([new_job("small"), NewJob("large", large)])
        assert await counts(store) == {}
        with pytest.raises(PayloadTooLarge, match="max_allowed_packet"):
            await store.insert([NewJob("large", large, fresh=True)])
        await put(store, "next")


async def test_a_batch_of_large_jobs_goes_in_several_packets(replica: Server) -> None:
    query(replica.url, "SET GLOBAL max_allowed_packet = 1048576")
    async with opened(fresh(replica.url)) as store:
        for fresh_ids in (True, False):
            jobs = [
                NewJob(f"{fresh_ids}-{n}", Spec("work", bytes([n]) * 300_000), fresh=fresh_ids)
                for n in range(12)
            ]
            assert not any(receipt.duplicate for receipt in await store.insert(jobs))
        claimed = await store.claim({"default": 24}, 24, 60_000, "w")
        assert [len(job.spec.payload) for job in claimed] == [300_000] * 24


async def test_rivals_for_the_same_rows_are_tried_again(url: str) -> None:
    """Batches with the same ids in opposite orders lock each other out, which InnoDB ends."""
    names = [f"job-{n:02}" for n in range(40)]
    async with opened(url.replace("patience=0.5", "patience=20")) as store:
        orders = [names, names[::-1]] * 4
        answers = await asyncio.gather(
            *(store.insert([new_job(name) for name in order]) for order in orders)
        )
        accepted = [receipt.id for answer in answers for receipt in answer if not receipt.duplicate]
        assert sorted(accepted) == names
        assert await counts(store) == {State.PENDING: 40}


async def test_a_damaged_job_does_not_stop_the_others(url: str, mariadb_server: Server) -> None:
    async with opened(url) as store:
        await put(store, "good", "bad spec", "bad error", "bad unique")
        table = named(url, "jobs")
        query(
            mariadb_server.url,
            f"UPDATE {table} SET spec = x'ff00ff' WHERE id = 'bad spec'",
            f"UPDATE {table} SET error = 'not json' WHERE id = 'bad error'",
            f"UPDATE {table} SET unique_key = x'ff' WHERE id = 'bad unique'",
        )
        jobs = {job.id: job for job in await store.claim({"default": 9}, 9, 60_000, "w")}
        assert jobs.keys() == {"good", "bad spec", "bad error", "bad unique"}
        assert jobs["bad spec"].spec.content_type == "unreadable"
        assert jobs["bad error"].error is not None
        assert (await store.get(["bad spec"])).keys() == {"bad spec"}
