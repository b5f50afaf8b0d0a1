"""A private place on a server: empty at first, and gone afterwards."""

from collections.abc import Callable

import psycopg
import pytest

from tests.servers.mysql_client import query
from tests.servers.redis import tell
from windlass.core.model import NewJob, Spec
from windlass.errors import InvalidOption
from windlass.stores.open import open_store
from windlass.testing.place import PREFIX, private

pytestmark = pytest.mark.anyio


def redis_names(url: str) -> list[str]:
    return list(tell(int(url.rpartition(":")[2].partition("/")[0]), "KEYS", f"{PREFIX}*"))


def postgres_names(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        asked = "SELECT nspname FROM pg_namespace WHERE starts_with(nspname, %s)"
        return [name for (name,) in connection.execute(asked, [PREFIX])]


def mariadb_names(url: str) -> list[str]:
    asked = "SELECT table_name FROM information_schema.tables"
    return [name for (name,) in query(url, asked) if name.startswith(PREFIX)]


@pytest.mark.parametrize(
    ("server", "names"),
    [
        ("redis_server", redis_names),
        ("postgres_server", postgres_names),
        ("mariadb_server", mariadb_names),
    ],
)
async def test_nothing_is_left_of_it(
    server: str, names: Callable[[str], list[str]], request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue(server).url
    async with private(url) as place:
        store = open_store(place)
        await store.open()
        await store.insert([NewJob("one", Spec("task", b""))])
        await store.close()
        assert names(url)
    assert not names(url)


async def test_a_cluster_is_swept_in_every_shard(request: pytest.FixtureRequest) -> None:
    cluster = request.getfixturevalue("redis_cluster")
    async with private(cluster.url) as place:
        store = open_store(place)
        await store.open()
        await store.insert([NewJob(f"{n}", Spec("task", b""), f"queue-{n}") for n in range(40)])
        await store.close()
    assert not any(tell(node.port, "KEYS", f"{PREFIX}*") for node in cluster.nodes)


async def test_a_server_of_windlass_has_none() -> None:
    with pytest.raises(InvalidOption, match="the URL of the store itself"):
        async with private("https://jobs.example.com"):
            raise AssertionError("there is one")
