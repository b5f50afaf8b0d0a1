"""The schema is brought up to date by whoever comes first, and by nobody twice."""

import asyncio

import pytest

from tests.servers.mysql_client import query
from tests.servers.server import Server
from tests.stores.mysql.site import fresh, named, opened
from tests.stores.mysql.user import begun
from windlass.core.apikey import ApiKey, Role
from windlass.core.attempts import AttemptRecord
from windlass.core.model import Spec, encode_spec
from windlass.errors import SchemaMismatch, StoreError
from windlass.stores.mysql import migrate
from windlass.stores.mysql.migrate import split
from windlass.stores.mysql.url import parse
from windlass.stores.open import open_store
from windlass.stores.sql.migrations import load_migrations
from windlass.testing.jobs import claim, claim_one, ids, put

KEY = ApiKey("k", bytes(32), (Role.READ,))
ATTEMPT = AttemptRecord("a", "default", 1, 1, "w", 1)
COUNTING = ("jobs", "finished", "journal")
ADDED = ("keys", "logs", "stats", "tallies", "orders")
"""The tables that were not there at first."""


@pytest.fixture
def url(mariadb_server: Server) -> str:
    return fresh(mariadb_server.url)


async def test_many_open_new_tables_at_once(url: str) -> None:
    stores = [open_store(url) for _ in range(8)]
    await asyncio.gather(*(store.open() for store in stores))
    for n, store in enumerate(stores):
        await put(store, f"job-{n}")
    await asyncio.gather(*(store.close() for store in stores))
    table = named(url, "migrations")
    assert query(url, f"SELECT COUNT(*) = COUNT(DISTINCT number) FROM {table}") == [(1,)]


async def test_migrating_names_what_was_applied_and_then_nothing(url: str) -> None:
    async with opened(f"{url}&migrate=off") as store:
        assert list(await store.migrate()) == [
            *("0001_jobs", "0002_keys", "0003_observe", "0004_lost"),
        ]
        assert await store.migrate() == ()
        await put(store, "a")


async def test_a_migration_that_was_cut_short_is_begun_anew(url: str) -> None:
    """As if the process had died before its last statements: MySQL has committed the others."""
    async with opened(url) as store:
        await put(store, "a")
    query(
        url,
        f"DROP TABLE {named(url, 'terms')}",
        f"DROP TABLE {named(url, 'workers')}",
        f"DROP TABLE {named(url, 'orders')}",
        f"DELETE FROM {named(url, 'migrations')}",
    )
    async with opened(url) as store:
        assert (await claim_one(store)).id == "a"
        assert await store.elect("role", "me", 1000) is not None


async def test_the_version_before_goes_on_after_a_compatible_migration(url: str) -> None:
    async with opened(url) as old:
        await put(old, "before")
        query(
            url,
            f"ALTER TABLE {named(url, 'jobs')} ADD COLUMN newer INT",
            f"ALTER TABLE {named(url, 'finished')} ADD COLUMN newer INT",
            f"INSERT INTO {named(url, 'migrations')} VALUES (999, '0999_later', 'x', 1, 0, NULL)",
        )
        assert (await claim_one(old)).id == "before"
        await put(old, "after")
        async with opened(url) as opened_later:
            assert (await claim_one(opened_later)).id == "after"


async def test_a_store_of_the_version_before_gets_what_is_new_and_keeps_its_jobs(url: str) -> None:
    async with opened(url) as store:
        await put(store, "a")
    query(
        url,
        *(f"DROP TABLE {named(url, table)}" for table in ADDED),
        *(f"ALTER TABLE {named(url, table)} DROP COLUMN lost" for table in COUNTING),
        f"DELETE FROM {named(url, 'migrations')} WHERE number > 1",
    )
    async with opened(f"{url}&migrate=off") as older:
        await put(older, "b")
        with pytest.raises(StoreError, match="windlass migrate"):
            await older.keys()
        async with opened(url) as newer:
            await newer.put_keys([KEY])
            assert await newer.migrate() == ()
        assert list(await older.keys()) == [KEY]
        await older.note_attempts([ATTEMPT], 60_000)
        assert await older.attempts(["a"]) == {"a": [ATTEMPT]}
        assert ids(await claim(older)) == ["a", "b"]


async def test_a_schema_newer_than_the_code_is_left_alone(url: str) -> None:
    async with opened(url):
        query(
            url,
            f"INSERT INTO {named(url, 'migrations')} VALUES (999, '0999_later', 'x', 0, 0, NULL)",
        )
    for each in (url, f"{url}&migrate=off"):
        store = open_store(each)
        with pytest.raises(SchemaMismatch, match="upgrade windlass first"):
            await store.open()
        await store.close()


async def test_code_that_is_too_old_to_run_beside_a_schema_stops(url: str) -> None:
    newest = load_migrations("windlass.stores.mysql")[-1].number
    async with opened(url):
        table = named(url, "migrations")
    query(url, f"INSERT INTO {table} VALUES (999, '0999_later', 'x', 1, 0, {newest})")
    async with opened(url) as store:
        await put(store, "a")
    query(url, f"UPDATE {table} SET oldest = 998 WHERE number = 999")
    with pytest.raises(SchemaMismatch, match="too old to run"):
        await open_store(url).open()


async def test_jobs_of_the_first_schema_live_through_every_migration_while_others_run(
    url: str,
) -> None:
    """With statements of the code before going on meanwhile, in tables as they were released."""
    first = load_migrations("windlass.stores.mysql")[0]
    spec = encode_spec(Spec("work", b"")).hex()
    jobs, ended = named(url, "jobs"), named(url, "finished")
    query(
        url,
        f"USE {jobs.partition('.')[0]}",
        *(parse(url).named(statement) for statement in split(first.sql)),
        f"CREATE TABLE {named(url, 'migrations')} (number INT NOT NULL PRIMARY KEY, "
        "name VARCHAR(255) NOT NULL, checksum CHAR(64) NOT NULL, compatible TINYINT NOT NULL, "
        "applied_at BIGINT NOT NULL)",
        f"INSERT INTO {named(url, 'migrations')} "
        f"VALUES (1, '{first.name}', '{first.checksum}', 0, 0)",
        *(
            old_job(jobs, id, state, spec)
            for id, state in (("a", "pending"), ("b", "retry"), ("c", "active"))
        ),
        f"INSERT INTO {ended} (state, finished_at, number, id, queue, `rank`, place, due, attempt, "
        f"fence, keep, created_at, spec) "
        f"VALUES ('dead', 5, 99, 'd', 'default', 50, 1, 0, 1, 1, 9, 0, X'{spec}')",
    )
    done = asyncio.Event()

    async def go_on() -> int:
        number = 0
        async with begun(url) as connection, connection.cursor() as cursor:
            while not (done.is_set() and number):
                number += 1
                await cursor.execute(old_job(jobs, f"x{number}", "scheduled", spec))
                await cursor.execute(f"DELETE FROM {jobs} WHERE id = 'x{number}'")
                await connection.commit()
        return number

    going = asyncio.create_task(go_on())
    async with opened(url) as store:
        done.set()
        assert await going > 0
        assert ids(await claim(store)) == ["a", "b"]
        assert [job.id for job in await store.rescue(9, 1_000, "rescuer")] == ["c"]
        assert set(await store.get(["d"])) == {"d"}
        assert await store.replay(["d"]) == {"d"}
        assert await store.migrate() == ()


def old_job(table: str, id: str, state: str, spec: str) -> str:
    return (
        f"INSERT INTO {table} (id, state, queue, `rank`, place, due, keep, created_at, fence, "
        "attempt, lease_until, worker, spec) "
        f"VALUES ('{id}', '{state}', 'default', 50, 1, 0, 9, 0, 1, 1, 1, 'w', X'{spec}')"
    )


async def test_a_migration_with_other_content_is_refused(url: str) -> None:
    async with opened(url):
        query(url, f"UPDATE {named(url, 'migrations')} SET checksum = 'x'")
    store = open_store(url)
    with pytest.raises(SchemaMismatch, match="applied with other content"):
        await store.open()
    await store.close()


async def test_apps_with_namespaces_of_their_own_do_not_meet(mariadb_server: Server) -> None:
    one, two = fresh(mariadb_server.url), fresh(mariadb_server.url)
    async with opened(one) as first, opened(two) as second:
        await put(first, "a")
        assert await second.queues() == []
        await put(second, "a")
        assert (await claim_one(first)).id == "a"


async def test_a_user_who_may_not_make_tables_is_told(url: str) -> None:
    query(
        url,
        "CREATE USER IF NOT EXISTS reader@'127.0.0.1'",
        "GRANT SELECT ON windlass.* TO reader@'127.0.0.1'",
    )
    store = open_store(url.replace("windlass@", "reader@"))
    with pytest.raises(StoreError, match="refuses this user"):
        await store.open()
    await store.close()


def test_a_script_is_split_at_its_semicolons() -> None:
    assert split("-- A; comment\nCREATE a; -- more\n\nCREATE\n  b;\n") == [
        "CREATE a",
        "CREATE\n  b",
    ]


async def test_a_change_that_waits_for_an_open_transaction_stops_nobody_for_long(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = f"ALTER TABLE {named(url, 'jobs')} ADD COLUMN later INT"
    async with opened(url) as store, opened(url) as beside:
        await put(store, "a", "b", "c")
        query(url, f"DELETE FROM {named(url, 'migrations')} WHERE number = 4")
        monkeypatch.setattr(migrate, "split", lambda script: [change])
        async with begun(url) as connection:
            async with connection.cursor() as cursor:
                await cursor.execute(f"SELECT COUNT(*) FROM {named(url, 'jobs')}")
            changing = asyncio.create_task(store.migrate())
            for _ in range(3):
                async with asyncio.timeout(8):
                    await asyncio.sleep(0.5)
                    assert len(await claim(beside, 1)) == 1
            assert not changing.done()
            await connection.commit()
        assert await changing == ["0004_lost"]
        assert await claim(beside, 1) == []
