"""What cannot work is told in one sentence, and nothing is half-done."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
import pytest

from tests.servers import postgres
from tests.servers.ports import free_port
from tests.servers.server import Server
from tests.stores.postgres.site import ask, fresh, opened, schema_of
from windlass.core.model import JobQuery
from windlass.core.states import State
from windlass.errors import InvalidOption, SchemaMismatch, StoreError, StoreUnavailable
from windlass.stores.open import open_store
from windlass.stores.postgres import migrate
from windlass.testing.jobs import claim, claim_one, finish, new_job, put


async def refused(url: str, kind: type[StoreError] = StoreError) -> str:
    store = open_store(url)
    with pytest.raises(kind) as caught:
        await store.open()
    await store.close()
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


async def test_an_unknown_user(postgres_server: Server) -> None:
    url = postgres_server.url.replace("windlass@", "stranger:secret@")
    text = await refused(url)
    assert "refused the user name or the password" in text
    assert "secret" not in text


@contextmanager
def guarded() -> Iterator[Server]:
    """A server that wants passwords."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as rules:
        rules.write("host all all 127.0.0.1/32 scram-sha-256\n")
        rules.flush()
        os.chmod(rules.name, 0o644)
        with postgres.serve(f"hba_file={rules.name}") as server:
            yield server


async def test_a_wrong_password() -> None:
    with guarded() as server:
        text = await refused(server.url.replace("windlass@", "windlass:wrong@"))
    assert "refused the user name or the password" in text
    assert "wrong@" not in text


async def test_a_missing_database(postgres_server: Server) -> None:
    text = await refused(postgres_server.url.replace("/postgres", "/nowhere"))
    assert 'database "nowhere" does not exist' in text


async def test_nobody_listens() -> None:
    url = f"postgresql://windlass@127.0.0.1:{free_port()}/postgres?patience=0.1"
    assert "Connection refused" in await refused(url, StoreUnavailable)


async def test_too_old_a_server(postgres_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "OLDEST", 990000)
    text = await refused(fresh(postgres_server.url))
    assert re.search(r"^PostgreSQL .* is too old: windlass needs 13 or newer\.$", text)


async def test_a_database_of_another_encoding(postgres_server: Server) -> None:
    await ask(postgres_server.url, "DROP DATABASE IF EXISTS latin")
    await ask(
        postgres_server.url,
        "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
    )
    text = await refused(postgres_server.url.replace("/postgres", "/latin"))
    assert "LATIN1: windlass needs UTF8" in text


async def test_a_server_that_only_reads(postgres_server: Server) -> None:
    await ask(postgres_server.url, "DROP ROLE IF EXISTS reader")
    await ask(postgres_server.url, "CREATE ROLE reader LOGIN")
    await ask(postgres_server.url, "ALTER ROLE reader SET default_transaction_read_only = on")
    text = await refused(postgres_server.url.replace("windlass@", "reader@"))
    assert "is a read-only replica" in text


async def test_a_user_who_may_not_create(postgres_server: Server) -> None:
    await ask(postgres_server.url, "DROP ROLE IF EXISTS visitor")
    await ask(postgres_server.url, "CREATE ROLE visitor LOGIN")
    url = fresh(postgres_server.url.replace("windlass@", "visitor@"))
    assert "does not allow this user enough" in await refused(url)
    found = await ask(
        postgres_server.url, "SELECT count(*) FROM pg_namespace WHERE nspname = $1", schema_of(url)
    )
    assert found == 0


async def test_tables_that_are_not_there(postgres_server: Server) -> None:
    async with opened(fresh(postgres_server.url, migrate="off")) as store:
        with pytest.raises(SchemaMismatch, match="run `windlass migrate`"):
            await store.insert([new_job("a", fresh=True)])


async def test_text_that_postgres_cannot_hold(postgres_server: Server) -> None:
    async with opened(fresh(postgres_server.url)) as store:
        for id in ("a\0b", "a\ud800b"):
            with pytest.raises(InvalidOption, match="cannot store this"):
                await store.insert([new_job(id)])
        assert await store.queues() == []


async def test_a_damaged_record_fails_by_itself(postgres_server: Server) -> None:
    url = fresh(postgres_server.url)
    schema = schema_of(url)
    async with opened(url) as store:
        await put(store, "good", "bad", "worse")
        connection = await asyncpg.connect(postgres_server.url)
        await connection.execute(
            f"UPDATE {schema}.windlass_jobs SET spec = '\\xff' WHERE id = 'bad'"
        )
        await connection.execute(
            f"UPDATE {schema}.windlass_jobs SET error = '{{', progress = '{{' WHERE id = 'worse'"
        )
        await connection.close()
        assert {job.id for job in (await store.find(JobQuery())).jobs} == {"good", "bad", "worse"}
        jobs = await claim(store)
        assert [job.id for job in jobs] == ["good", "bad", "worse"]
        assert jobs[1].task == "(unreadable)"
        for job in jobs:
            assert await finish(store, job, State.DEAD)


async def test_a_key_as_long_as_allowed_is_kept(postgres_server: Server) -> None:
    async with opened(fresh(postgres_server.url)) as store:
        await put(store, "a", unique="é" * 1_000)
        assert (await claim_one(store)).unique == "é" * 1_000
