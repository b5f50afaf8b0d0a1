"""TLS to PostgreSQL and to MariaDB, with the settings that the how-to pages name.

The user `safe` is let in over TLS alone: whatever works for that user was encrypted.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers.certificates import Certificates, Tls, certify
from tests.servers.server import Server
from tests.servers.sql_tls import mariadb_tls, postgres_tls
from windlass import Context, Windlass
from windlass.config import HistorySettings
from windlass.core.states import State
from windlass.errors import InvalidOption, StoreError, StoreUnavailable
from windlass.history.open import open_archive
from windlass.stores.open import open_store
from windlass.stores.sql.store import SqlStore
from windlass.testing.jobs import counts, put
from windlass.testing.work import work

SERVERS = {"postgres": postgres_tls, "mariadb": mariadb_tls}


@dataclass(frozen=True)
class Manners:
    """How the URLs of an engine ask for TLS."""

    required: str
    verified: str
    identified: str


MANNERS = {
    "postgres": Manners(
        "sslmode=require", "sslmode=verify-full&sslrootcert={}", "&sslcert={}&sslkey={}"
    ),
    "mariadb": Manners("tls=on&verify=no", "tls=on&ca={}", "&cert={}&key={}"),
}


@pytest.fixture(scope="module")
def tls(name: str) -> Iterator[Tls]:
    with SERVERS[name]() as tls:
        yield tls


@pytest.fixture
def manners(name: str) -> Manners:
    return MANNERS[name]


@pytest.fixture
def stranger(tmp_path: Path) -> Certificates:
    """Those of an authority that has nothing to do with the server's."""
    return certify(tmp_path)


def url_of(tls: Tls, settings: str, user: str = "safe") -> str:
    return f"{tls.url.replace('windlass@', f'{user}@')}?{settings}"


async def refused(url: str, kind: type[StoreError] = StoreError) -> str:
    """What is said about a server that cannot be used, by the store and by the history."""
    said = []
    for place in (open_store(url), open_archive(url)):
        with pytest.raises(kind) as caught:
            await place.open()
        await place.close()
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "\n" not in said[0]
    assert said[0].endswith(".")
    return said[0]


async def live(url: str) -> None:
    """Jobs that use every kind of connection there is, and the history of them."""
    app = Windlass(url, history=HistorySettings(url=url, interval=0.01))

    runs: list[str] = []

    @app.task(context=True)
    async def on_loop(context: Context) -> None:
        async with context.transaction():
            runs.append("loop")

    @app.task(context=True)
    def in_thread(context: Context) -> None:
        with context.transaction():
            runs.append("thread")

    handles = [await on_loop.aenqueue(), await in_thread.aenqueue()]
    await work(app)
    assert sorted(runs) == ["loop", "thread"]
    for handle in handles:
        assert (await handle.aget()).state is State.COMPLETED
        assert (await app.history.aget(handle.id)).state is State.COMPLETED
    await app.aclose()


async def test_jobs_live_on_a_server_that_is_verified(tls: Tls, manners: Manners) -> None:
    await live(url_of(tls, manners.verified.format(tls.certificates.authority)))


async def test_jobs_live_where_tls_is_only_required(tls: Tls, manners: Manners) -> None:
    await live(url_of(tls, manners.required))


async def test_without_tls_the_user_is_not_let_in(tls: Tls, name: str) -> None:
    said = await refused(url_of(tls, "sslmode=disable" if name == "postgres" else "tls=off"))
    assert "refuse" in said


async def test_another_authority_is_refused_at_once(
    tls: Tls, manners: Manners, stranger: Certificates
) -> None:
    # Were it taken for an outage, it would be waited for until the test is given up.
    url = url_of(tls, manners.verified.format(stranger.authority) + "&patience=3600")
    async with asyncio.timeout(60):
        said = await refused(url)
    assert said.startswith("The certificate of ")
    assert "is not trusted (certificate signature failure)" in said
    store = open_store(url)
    assert isinstance(store, SqlStore)
    with pytest.raises(StoreUnavailable, match="gave no connection") as caught:
        async with store.loans.alend():
            pass
    assert "\n" not in str(caught.value)
    with pytest.raises(StoreUnavailable, match="gave no connection") as caught, store.loans.lend():
        pass
    assert "\n" not in str(caught.value)


async def test_an_address_that_the_certificate_does_not_name_is_refused(
    tls: Tls, manners: Manners
) -> None:
    url = url_of(tls, manners.verified.format(tls.certificates.authority))
    assert "not valid for '127.0.0.2'" in await refused(url.replace("127.0.0.1", "127.0.0.2"))
    # It is there, for who does not look so closely.
    await live(url_of(tls, manners.required).replace("127.0.0.1", "127.0.0.2"))


async def test_a_certificate_is_shown_to_a_server_that_asks_for_one(
    tls: Tls, manners: Manners
) -> None:
    files = tls.certificates
    url = url_of(tls, manners.verified.format(files.authority), "known")
    await live(url + manners.identified.format(files.certificate("client"), files.key("client")))
    assert "refuse" in await refused(url)


def test_files_that_do_not_belong_together_are_told_of_before_anything_is_done(
    tls: Tls, manners: Manners, stranger: Certificates
) -> None:
    pair = stranger.certificate("client"), tls.certificates.key("client")
    for settings in (
        manners.verified.format(tls.certificates.key("client")),
        manners.required + manners.identified.format(*pair),
    ):
        with pytest.raises(InvalidOption, match="name PEM files that this process may read"):
            open_store(url_of(tls, settings))


async def test_a_server_that_speaks_no_tls_is_refused_at_once(
    name: str, manners: Manners, request: pytest.FixtureRequest
) -> None:
    server: Server = request.getfixturevalue(f"{name}_server")
    async with asyncio.timeout(60):
        said = await refused(f"{server.url}?{manners.required}&patience=3600")
    assert "does not speak TLS" in said


async def test_a_restart_is_survived_over_tls_too(tls: Tls, manners: Manners) -> None:
    url = url_of(tls, manners.verified.format(tls.certificates.authority) + "&patience=20")
    async with AsyncExitStack() as stack:
        store = open_store(url)
        await store.open()
        stack.push_async_callback(store.close)
        await put(store, "before")
        await asyncio.to_thread(tls.server.stop)
        await asyncio.to_thread(tls.server.start)
        await put(store, "after")
        assert (await counts(store))[State.PENDING] == 2
