"""Who may reach the jobs: TLS, users of the access list, namespaces and databases."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.servers.certificates import Tls, certify
from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.redis_tls import serve_tls
from tests.servers.server import Server
from tests.stores.redis.watch import counted, fresh, fresh_namespace
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.model import JobQuery
from windlass.core.states import State
from windlass.errors import StoreError, StoreUnavailable
from windlass.stores.open import open_store
from windlass.testing.jobs import claim_one, counts, finish, put, state_of
from windlass.testing.work import until

HOWTO = Path(__file__).parents[3] / "docs" / "howto" / "redis.md"


async def live(url: str) -> None:
    """The whole life of a job, with a worker: done, failed and tried again, called off."""
    app = Windlass(url)
    runs: list[str] = []

    @app.task(max_retries=1, backoff=0.01)
    async def note(word: str) -> str:
        runs.append(word)
        if word == "twice" and runs.count(word) == 1:
            raise ValueError("once more")
        return word

    worker = await app.worker(WorkerSettings(queues=("*",)))
    await worker.start()
    first = await note.using(unique="key").aenqueue("first")
    handles = await app.aenqueue_many([note.call("many"), note.call("twice")])
    later = await note.using(delay=0.05, queue="other").aenqueue("later")
    off = await note.using(delay=3600).aenqueue("never")
    for handle in (first, *handles, later):
        await handle.aresult(timeout=20)
    store = await app.client.store()
    assert await store.cancel([off.id]) == {off.id}
    async with asyncio.timeout(20):
        while not await store.workers():
            await asyncio.sleep(0.01)
    assert len((await store.find(JobQuery())).jobs) == 5
    # Idle now, and woken.
    await (await note.aenqueue("woken")).aresult(timeout=20)
    await worker.stop()
    await app.aclose()
    assert sorted(runs) == ["first", "later", "many", "twice", "twice", "woken"]


# -- TLS -------------------------------------------------------------------------------------


async def test_jobs_live_over_tls(redis_tls: Tls) -> None:
    await live(f"{redis_tls.url}?ca={redis_tls.certificates.authority}&namespace=tls")


async def test_a_server_that_asks_for_a_certificate_is_shown_one() -> None:
    with serve_tls("--tls-auth-clients yes") as tls:
        files = tls.certificates
        ca, cert, key = files.authority, files.certificate("client"), files.key("client")
        async with fresh(tls.url, ca=str(ca), cert=str(cert), key=str(key)) as store:
            await store.ping()
        with pytest.raises(StoreUnavailable):
            async with fresh(tls.url, ca=str(ca), patience="0"):
                pytest.fail("it lets in who shows none")


async def test_a_server_of_another_authority_is_refused(redis_tls: Tls, tmp_path: Path) -> None:
    stranger = certify(tmp_path)
    store = open_store(f"{redis_tls.url}?ca={stranger.authority}&patience=0")
    with pytest.raises(StoreError) as caught:
        await store.open()
    await store.close()
    assert "certificate" in str(caught.value).lower()
    assert "p@ss" not in str(caught.value)


async def test_without_tls_a_server_that_wants_it_is_not_reached(redis_tls: Tls) -> None:
    store = open_store(f"redis://127.0.0.1:{redis_tls.server.port}?patience=0.2")
    with pytest.raises(StoreUnavailable):
        await store.open()
    await store.close()


# -- users -----------------------------------------------------------------------------------


def rights() -> list[str]:
    """What the user of the how-to page may do, as words of ACL SETUSER."""
    found = re.search(r"ACL SETUSER shop (.+?)```", HOWTO.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1].split()


def nodes(engine: Server | Cluster) -> list[Server]:
    return [engine] if isinstance(engine, Server) else list(engine.nodes)


@asynccontextmanager
async def user(engine: Server | Cluster, *rules: str) -> AsyncIterator[str]:
    """A user by the name of shop, and the URL to come as one."""
    for node in nodes(engine):
        tell(node.port, "ACL", "SETUSER", "shop", *rules)
        tell(node.port, "SCRIPT", "FLUSH")
    scheme, _, rest = engine.url.partition("://")
    try:
        yield f"{scheme}://shop:secret@{rest.removesuffix('/0')}"
    finally:
        for node in nodes(engine):
            tell(node.port, "ACL", "DELUSER", "shop")


@pytest.fixture(params=["redis_server", "redis_old", "valkey_server", "redis_cluster"])
def engine(request: pytest.FixtureRequest) -> Server | Cluster:
    engine: Server | Cluster = request.getfixturevalue(request.param)
    return engine


async def test_a_worker_gets_along_with_the_rights_of_the_page(engine: Server | Cluster) -> None:
    async with user(engine, *rights()) as url:
        await live(f"{url}?namespace=windlass:{fresh_namespace()}")


async def test_another_namespace_is_out_of_reach(redis_server: Server) -> None:
    async with user(redis_server, *rights()) as url:
        store = open_store(f"{url}?namespace=elsewhere")
        with pytest.raises(StoreError, match=r"does not allow.*ACL SETUSER"):
            await store.open()
        await store.close()


@pytest.mark.parametrize("missing", ["evalsha", "hget", "zadd"])
async def test_a_missing_right_is_named(engine: Server | Cluster, missing: str) -> None:
    async with user(engine, *rights(), f"-{missing}") as url:
        store = open_store(f"{url}?namespace=windlass:{fresh_namespace()}")
        with pytest.raises(StoreError) as caught:
            await store.open()
            await put(store, "job")
        await store.close()
    said = str(caught.value)
    assert "does not allow this user enough" in said
    assert "ACL SETUSER" in said
    assert "secret" not in said


async def test_a_wrong_password_is_said_to_be_wrong(redis_server: Server) -> None:
    async with user(redis_server, *rights()) as url:
        store = open_store(url.replace("secret", "guess"))
        with pytest.raises(StoreError, match="refused the user name or the password") as caught:
            await store.open()
        assert "guess" not in str(caught.value)
        await store.close()


# -- namespaces and databases ----------------------------------------------------------------


@pytest.fixture(params=["namespaces", "databases"])
async def two(request: pytest.FixtureRequest, redis_server: Server) -> tuple[str, str]:
    """Two URLs of one server that are to know nothing of each other."""
    name = fresh_namespace()
    if request.param == "namespaces":
        return f"{redis_server.url}?namespace={name}", f"{redis_server.url}?namespace={name}-b"
    front = redis_server.url.removesuffix("/0")
    return f"{front}/0?namespace={name}", f"{front}/1?namespace={name}"


async def test_two_stores_do_not_see_each_other(two: tuple[str, str]) -> None:
    one, other = (open_store(url) for url in two)
    await one.open()
    await other.open()
    await put(one, "job", unique="key", queue="q")
    assert await other.queues() == []
    assert await state_of(other, "job") is None
    assert await other.claim({"q": 10}, 10, 30_000, "w") == []
    await put(other, "job", unique="key", queue="q")
    assert (await claim_one(other, queue="q")).id == (await claim_one(one, queue="q")).id
    assert await one.cancel(["job"]) == {"job"}
    assert await state_of(other, "job") is State.ACTIVE
    await one.pause("q")
    await put(other, "more", queue="q")
    assert await finish(other, await claim_one(other, queue="q"), State.COMPLETED)
    assert await one.elect("role", "a", 60_000) is not None
    assert await other.elect("role", "b", 60_000) is not None
    assert await counts(one, "q") == {State.CANCELLED: 1}
    await one.close()
    await other.close()


async def test_two_stores_do_not_wake_each_other(
    two: tuple[str, str], redis_server: Server
) -> None:
    one, other = (open_store(url) for url in two)
    await one.open()
    await other.open()
    await other.wait(["q"], 0)
    waiting = asyncio.create_task(other.wait(["q"], 20))
    await asyncio.sleep(0.05)
    with counted(redis_server.port) as calls:
        await put(one, "job", queue="q")
    assert calls["publish"] == 1
    await asyncio.sleep(0.2)
    assert not waiting.done()
    await put(other, "job", queue="q")
    await until(waiting.done)
    await one.close()
    await other.close()
