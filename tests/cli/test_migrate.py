"""`windlass migrate`: names what it applied, and applies nothing twice."""

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.cli.conftest import Call
from tests.cli.program import Program
from tests.server.serving import served
from tests.servers.redis_cluster import Cluster
from tests.servers.redis_sentinel import Sentinels
from tests.servers.server import Server
from windlass import Windlass
from windlass.cli.main import cli
from windlass.cli.target import with_setting
from windlass.errors import StoreError


def test_a_new_store_gets_every_migration_and_then_none(call: Call, url: str) -> None:
    first, again = call("migrate"), call("migrate")
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert first.stdout.splitlines()[0] == "Applied 0001_jobs."
    assert again.stdout == f"The schema of {url} is up to date.\n"


def test_a_store_that_opens_without_migrating_can_be_used_after_it(call: Call, url: str) -> None:
    app = Windlass(f"{url}?migrate=off")

    @app.task
    def nothing() -> None: ...

    with pytest.raises(StoreError):
        nothing.enqueue()
    assert call("migrate", "--url", app.url).exit_code == 0
    assert not nothing.enqueue().duplicate
    app.close()


def test_the_store_can_be_an_apps(program: Program, tmp_path: Path) -> None:
    done = program("migrate", "-A", "shop:app")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "jobs.db").exists()
    assert program("migrate").stdout == f"The schema of {program.url} is up to date.\n"


@pytest.mark.parametrize(
    ("url", "without"),
    [
        ("sqlite:///a.db", "sqlite:///a.db?migrate=off"),
        ("sqlite:///a.db?migrate=on", "sqlite:///a.db?migrate=off"),
        (
            "sqlite:///a.db?migrate=on&synchronous=full",
            "sqlite:///a.db?synchronous=full&migrate=off",
        ),
    ],
)
def test_the_other_settings_of_a_url_are_kept(url: str, without: str) -> None:
    assert with_setting(url, "migrate", "off") == without


def up_to_date(url: str) -> bool:
    done = CliRunner().invoke(cli, ["migrate", "--url", url], catch_exceptions=False)
    return (done.exit_code, done.stdout) == (0, f"The schema of {url} is up to date.\n")


def test_a_store_without_a_schema_is_up_to_date(
    redis_server: Server, redis_sentinel: Sentinels
) -> None:
    for url in ("memory://", redis_server.url, f"{redis_server.url}?timeout=3", redis_sentinel.url):
        assert up_to_date(url), url


def test_a_cluster_is_up_to_date(redis_cluster: Cluster) -> None:
    assert up_to_date(redis_cluster.url)


async def test_so_is_a_server_by_http_and_by_grpc() -> None:
    app = Windlass("memory://")
    async with served(app, has_tasks=False, grpc_port=0) as api:
        for url in (api.url, f"grpc://127.0.0.1:{api.server.grpc_port}"):
            assert await asyncio.to_thread(up_to_date, url), url
    await app.aclose()
