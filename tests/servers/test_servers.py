"""The private servers keep their promises; every store test stands on these."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import asyncmy
import asyncpg
import pytest
from redis.asyncio import Redis

from tests.servers import binaries, mariadb, postgres, redis
from tests.servers.process import alive, wait_until
from tests.servers.server import DidNotStart, Server

INSTALLER = Path(__file__).parents[2] / "scripts" / "servers"


async def redis_put(server: Server, word: str) -> None:
    async with Redis.from_url(server.url) as client:
        await client.set("note", word)


async def redis_get(server: Server) -> str:
    async with Redis.from_url(server.url, decode_responses=True) as client:
        return str(await client.get("note"))


async def postgres_put(server: Server, word: str) -> None:
    connection = await asyncpg.connect(server.url)
    await connection.execute("CREATE TABLE IF NOT EXISTS note (word text)")
    await connection.execute("INSERT INTO note VALUES ($1)", word)
    await connection.close()


async def postgres_get(server: Server) -> str:
    connection = await asyncpg.connect(server.url)
    word = await connection.fetchval("SELECT word FROM note")
    await connection.close()
    return str(word)


async def mariadb_query(server: Server, *statements: str) -> str:
    connection = await asyncmy.connect(
        host="127.0.0.1", port=server.port, user="windlass", db="windlass", autocommit=True
    )
    async with connection.cursor() as cursor:
        for statement in statements:
            await cursor.execute(statement)
        row = await cursor.fetchone()
    await connection.ensure_closed()
    return str(row[0]) if row else ""


async def mariadb_put(server: Server, word: str) -> None:
    table = "CREATE TABLE IF NOT EXISTS note (word varchar(20))"
    await mariadb_query(server, table, f"INSERT INTO note VALUES ('{word}')")


async def mariadb_get(server: Server) -> str:
    return await mariadb_query(server, "SELECT word FROM note")


@dataclass(frozen=True)
class Engine:
    """How to start one kind of server, and how to write and read one word in it."""

    serve: Callable[[], AbstractContextManager[Server]]
    put: Callable[[Server, str], Awaitable[None]]
    get: Callable[[Server], Awaitable[str]]


ENGINES = {
    "redis": Engine(redis.serve, redis_put, redis_get),
    "postgres": Engine(postgres.serve, postgres_put, postgres_get),
    "mariadb": Engine(mariadb.serve, mariadb_put, mariadb_get),
}


@pytest.mark.parametrize("name", ENGINES)
async def test_an_acknowledged_write_survives_kill_and_restart(
    name: str, request: pytest.FixtureRequest
) -> None:
    engine, server = ENGINES[name], request.getfixturevalue(f"{name}_server")
    await engine.put(server, "kept")
    first = server.pid

    server.kill()
    assert not alive(first)
    assert not server.answers()

    server.start()
    assert server.pid != first
    assert await engine.get(server) == "kept"


@pytest.mark.parametrize("name", ENGINES)
async def test_a_failing_test_leaves_no_process_and_no_folder(name: str) -> None:
    with pytest.raises(ZeroDivisionError), ENGINES[name].serve() as server:
        pid, folder = server.pid, server.folder
        assert folder.is_dir()
        _ = 1 / 0
    assert not alive(pid)
    assert not folder.exists()
    assert not server.answers()


def test_servers_do_not_run_as_root(redis_server: Server) -> None:
    owner = Path(f"/proc/{redis_server.pid}").stat().st_uid
    assert owner != 0


def test_even_killed_tests_leave_no_process_and_no_folder() -> None:
    script = """if True:
        from tests.servers import redis
        with redis.serve() as server:
            print(server.pid, server.folder, flush=True)
            input()
    """
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as tests:
        assert tests.stdout is not None
        pid, _, folder = tests.stdout.readline().strip().partition(" ")
        tests.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not alive(int(pid)) and not os.path.exists(folder))


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(DidNotStart, match="Bad directive"), redis.serve("--nonsense 1"):
        pass


def test_a_missing_server_names_the_command_that_installs_it() -> None:
    with pytest.raises(binaries.MissingServer, match="`make test` installs it"):
        binaries.binary("no-such-server")


def test_who_may_not_install_servers_is_told_in_one_sentence_what_to_install(
    tmp_path: Path,
) -> None:
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, INSTALLER], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"The tests start real servers: install redis-server\b.* and try again\.\n", done.stderr
    )
