"""The schema is brought up to date by whoever comes first, and by nobody twice."""

import asyncio

import asyncpg
import pytest

from tests.servers.server import Server
from tests.stores.postgres.site import ask, fresh, opened, schema_of
from windlass.core.apikey import ApiKey, Role
from windlass.core.attempts import AttemptRecord
from windlass.core.model import Spec, encode_spec
from windlass.errors import SchemaMismatch, StoreError
from windlass.stores.open import open_store
from windlass.stores.postgres import migrate
from windlass.stores.sql.migrations import load_migrations
from windlass.testing.jobs import claim, claim_one, ids, put

KEY = ApiKey("k", bytes(32), (Role.READ,))
ATTEMPT = AttemptRecord("a", "default", 1, 1, "w", 1)
COUNTING = ("jobs", "finished", "journal")
ADDED = ("keys", "logs", "stats", "tallies", "orders")
"""The tables that were not there at first."""
INSERT = "INSERT INTO {}.windlass_migrations VALUES (999, '0999_later', 'x', $1, 0)"

OLD_JOB = (
    "INSERT INTO windlass_jobs (id, spec, queue, state, rank, place, created_at, due, keep, fence, "
    "lease_until, attempt, worker) VALUES ($1, $4, 'default', $2, 50, $3, 0, 0, 9, 1, 1, 1, 'w')"
)


async def test_many_open_a_new_schema_at_once(postgres_server: Server) -> None:
    url = fresh(postgres_server.url)
    stores = [open_store(url) for _ in range(8)]
    await asyncio.gather(*(store.open() for store in stores))
    for n, store in enumerate(stores):
        await put(store, f"job-{n}")
    await asyncio.gather(*(store.close() for store in stores))
    table = f"{schema_of(url)}.windlass_migrations"
    assert await ask(url, f"SELECT count(*) = count(DISTINCT number) FROM {table}")


async def test_migrating_names_what_was_applied_and_then_nothing(postgres_server: Server) -> None:
    async with opened(fresh(postgres_server.url, migrate="off")) as store:
        assert list(await store.migrate()) == [
            *("0001_jobs", "0002_keys", "0003_observe", "0004_lost", "0005_beats"),
        ]
        assert await store.migrate() == ()
        await put(store, "a")


async def test_the_version_before_goes_on_after_a_compatible_migration(
    postgres_server: Server,
) -> None:
    url = fresh(postgres_server.url)
    async with opened(url) as old:
        await put(old, "before")
        schema = schema_of(url)
        await ask(url, f"ALTER TABLE {schema}.windlass_jobs ADD COLUMN newer text")
        await ask(url, f"ALTER TABLE {schema}.windlass_finished ADD COLUMN newer text")
        await ask(url, INSERT.format(schema), True)
        assert (await claim_one(old)).id == "before"
        await put(old, "after")
        async with opened(url) as opened_later:
            assert (await claim_one(opened_later)).id == "after"


async def test_a_store_of_the_version_before_gets_what_is_new_and_keeps_its_jobs(
    postgres_server: Server,
) -> None:
    url = fresh(postgres_server.url)
    async with opened(url) as store:
        await put(store, "a")
    for table in ADDED:
        await ask(url, f"DROP TABLE {schema_of(url)}.windlass_{table}")
    for table in COUNTING:
        await ask(url, f"ALTER TABLE {schema_of(url)}.windlass_{table} DROP COLUMN lost")
    await ask(url, f"DELETE FROM {schema_of(url)}.windlass_migrations WHERE number > 1")
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


async def test_a_schema_newer_than_the_code_is_left_alone(postgres_server: Server) -> None:
    url = fresh(postgres_server.url)
    async with opened(url):
        await ask(url, INSERT.format(schema_of(url)), False)
    for each in (url, f"{url}&migrate=off"):
        store = open_store(each)
        with pytest.raises(SchemaMismatch, match="upgrade windlass first"):
            await store.open()
        await store.close()


async def test_a_migration_that_was_tampered_with_is_found_out(postgres_server: Server) -> None:
    url = fresh(postgres_server.url)
    async with opened(url):
        await ask(url, f"UPDATE {schema_of(url)}.windlass_migrations SET checksum = 'other'")
    store = open_store(url)
    with pytest.raises(SchemaMismatch, match="other content"):
        await store.open()
    await store.close()


async def test_apps_in_schemas_of_one_database_do_not_meet(postgres_server: Server) -> None:
    async with (
        opened(fresh(postgres_server.url)) as one,
        opened(fresh(postgres_server.url)) as other,
    ):
        await put(one, "a", unique="k")
        assert await other.queues() == []
        await put(other, "a", unique="k")
        assert (await claim_one(one)).id == (await claim_one(other)).id == "a"


async def test_a_change_that_waits_keeps_nobody_waiting(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user's idle transaction has read the jobs; the schema changes when it is over."""
    monkeypatch.setattr(migrate, "LOCK_TIMEOUT", "100ms")
    monkeypatch.setattr(migrate, "PAUSE", 0.1)
    url = fresh(postgres_server.url)
    async with opened(url) as store:
        await put(store, "a", "b")
        schema = schema_of(url)
        for table in COUNTING:
            await ask(url, f"ALTER TABLE {schema}.windlass_{table} DROP COLUMN lost")
        await ask(url, f"DELETE FROM {schema}.windlass_migrations WHERE number >= 4")
        user = await asyncpg.connect(postgres_server.url)
        await user.execute("BEGIN")
        await user.execute(f"SELECT FROM {schema}.windlass_jobs")
        migrating = asyncio.create_task(store.migrate())
        for _ in range(20):
            await store.oldest(["default"])
            await asyncio.sleep(0.05)
        assert not migrating.done()
        await user.execute("COMMIT")
        assert "0004_lost" in await asyncio.wait_for(migrating, 60)
        assert ids(await claim(store)) == ["a", "b"]
        await user.close()


async def test_what_nobody_needs_is_left_for_the_next_start(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "PAUSE", 0.1)
    monkeypatch.setattr(migrate, "SPARE", 0.1)
    url = fresh(postgres_server.url)
    async with opened(url) as store:
        await put(store, "a")
        schema = schema_of(url)
        await ask(url, f"DELETE FROM {schema}.windlass_migrations WHERE number = 5")
        await ask(url, f"CREATE INDEX windlass_jobs_lease ON {schema}.windlass_jobs (lease_until)")
        user = await asyncpg.connect(postgres_server.url)
        await user.execute("BEGIN")
        await user.execute(f"SELECT FROM {schema}.windlass_jobs")
        async with opened(f"{url}&timeout=0.5") as later:
            assert await later.migrate() == ()
            assert ids(await claim(later)) == ["a"]
        await user.close()
        assert await store.migrate() == ("0005_beats",)
        found = f"SELECT to_regclass('{schema}.windlass_jobs_lease') IS NULL"
        assert await ask(url, found)


async def test_code_that_is_too_old_to_run_beside_a_schema_stops(postgres_server: Server) -> None:
    url = fresh(postgres_server.url)
    async with opened(url):
        table = f"{schema_of(url)}.windlass_migrations"
    later = f"INSERT INTO {table} VALUES (999, '0999_later', 'x', true, 0, $1)"
    await ask(url, later, 5)
    async with opened(url) as store:
        await put(store, "a")
    await ask(url, f"UPDATE {table} SET oldest = 998 WHERE number = 999")
    with pytest.raises(SchemaMismatch, match="too old to run"):
        await open_store(url).open()


async def test_a_schema_that_is_there_need_not_be_made(postgres_server: Server) -> None:
    """Who may make tables in it need not have the right to make schemas."""
    url = fresh(postgres_server.url)
    schema = schema_of(url)
    for statement in (
        "DROP ROLE IF EXISTS maker",
        "CREATE ROLE maker LOGIN",
        "REVOKE CREATE ON DATABASE postgres FROM maker",
        f"CREATE SCHEMA {schema}",
        f"GRANT USAGE, CREATE ON SCHEMA {schema} TO maker",
    ):
        await ask(url, statement)
    async with opened(url.replace("windlass@", "maker@")) as store:
        await put(store, "a")
    await ask(url, "DROP OWNED BY maker")
    await ask(url, "DROP ROLE maker")


async def test_jobs_of_the_first_schema_live_through_every_migration_while_others_run(
    postgres_server: Server,
) -> None:
    """With statements of the code before going on meanwhile, in tables as they were released."""
    url = fresh(postgres_server.url)
    schema = schema_of(url)
    first = load_migrations("windlass.stores.postgres")[0]
    old = await asyncpg.connect(
        postgres_server.url, server_settings={"search_path": schema, "lock_timeout": "5s"}
    )
    await old.execute(f"CREATE SCHEMA {schema}")
    await old.execute(first.sql)
    await old.execute(
        "CREATE TABLE windlass_migrations (number integer PRIMARY KEY, name text NOT NULL, "
        "checksum text NOT NULL, compatible boolean NOT NULL, applied_at bigint NOT NULL)"
    )
    await old.execute(
        "INSERT INTO windlass_migrations VALUES (1, $1, $2, false, 0)", first.name, first.checksum
    )
    for id, state in (("a", "pending"), ("b", "retry"), ("c", "active")):
        await old.execute(OLD_JOB, id, state, 1, encode_spec(Spec("work", b"")))
    await old.execute(
        "INSERT INTO windlass_finished (id, spec, queue, state, rank, place, created_at, due, "
        "keep, fence, finished_at, attempt) "
        "VALUES ('d', $1, 'default', 'dead', 50, 1, 0, 0, 9, 1, 5, 1)",
        encode_spec(Spec("work", b"")),
    )
    done = asyncio.Event()

    async def go_on() -> int:
        number = 0
        while not done.is_set():
            number += 1
            await old.execute(OLD_JOB, f"x{number}", "active", 9, encode_spec(Spec("work", b"")))
            await old.execute(
                "UPDATE windlass_jobs SET lease_until = 5 WHERE id = $1", f"x{number}"
            )
            await old.execute("DELETE FROM windlass_jobs WHERE id = $1", f"x{number}")
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
    await old.close()
