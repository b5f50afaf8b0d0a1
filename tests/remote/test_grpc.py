"""Producers over gRPC: as much of a store as that API has."""

import asyncio
import inspect
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.remote.samples import SAMPLES
from tests.server.serving import EVERY_QUEUE, Served, served
from tests.server.shop import Shop
from tests.servers.certificates import certify
from tests.servers.ports import free_port
from windlass import Batch, Limit, Windlass, chain, connect
from windlass.core.model import Failure, JobQuery, Progress, Receipt
from windlass.core.states import DELETABLE, State
from windlass.errors import (
    Forbidden,
    InvalidOption,
    PayloadTooLarge,
    StoreError,
    StoreUnavailable,
    Throttled,
    Unauthenticated,
    UnknownJob,
    UnknownTask,
    UsageError,
    WrongState,
)
from windlass.server.grpc.gate import ERROR, RETRY_AFTER
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.stores.remote import channel
from windlass.stores.remote.grpc import GrpcStore
from windlass.stores.remote.url import parse
from windlass.testing.jobs import BOOM, claim_one, finish, new_job, put

OFFERED = {"cancel", "delete", "find", "get", "insert", "migrate", "ping"}


@asynccontextmanager
async def bare(app: Windlass | None = None, **settings: Any) -> AsyncIterator[Served]:
    made = app or Windlass("memory://")
    options = {"grpc_port": 0} | settings
    async with served(made, has_tasks=app is not None, **options) as api:
        yield api
    await made.aclose()


def url_of(api: Served, key: str = "", query: str = "") -> str:
    login = f":{key}@" if key else ""
    return f"grpc://{login}127.0.0.1:{api.server.grpc_port}{query}"


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    store = open_store(url)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.mark.parametrize("name", sorted(SAMPLES))
async def test_what_is_not_offered_says_so(name: str) -> None:
    store = GrpcStore(parse("grpc://localhost"))
    own = inspect.signature(getattr(GrpcStore, name), eval_str=True)
    assert own == inspect.signature(getattr(Store, name), eval_str=True)
    if name not in OFFERED:
        with pytest.raises(UsageError, match=f"^{name} is not offered over gRPC; .*https://host"):
            await getattr(store, name)(**SAMPLES[name])


async def test_jobs_go_in_and_come_back() -> None:
    async with bare() as api, opened(url_of(api)) as store:
        await store.ping()
        fresh = replace(new_job("fresh", payload()), fresh=True)
        receipts = await store.insert([new_job("a", payload()), fresh, new_job("a", payload())])
        assert receipts == [Receipt("a"), Receipt("fresh"), Receipt("a", duplicate=True)]
        assert await store.insert([fresh]) == [Receipt("fresh")]
        assert await store.insert([]) == []
        assert await store.get([]) == {}
        found = await store.get(["a", "nobody"])
        assert list(found) == ["a"]
        whole = (await api.store.get(["a"]))["a"]
        assert found["a"] == replace(whole, spec=replace(whole.spec, payload=b""))
        assert await store.cancel(["a", "nobody"]) == {"a"}
        assert await store.delete(["a"]) == {"a"}
        assert await store.cancel([]) == await store.delete([]) == frozenset()
        with pytest.raises(UsageError, match="not offered"):
            await store.delete(["fresh"], DELETABLE - {State.PENDING})


def payload(task: str = "work") -> Any:
    return replace(SAMPLES["insert"]["jobs"][0].spec, task=task)


async def test_what_became_of_a_job_comes_back() -> None:
    async with bare() as api, opened(url_of(api)) as store:
        await put(api.store, "failed", "done", spec=payload())
        job = await claim_one(api.store)
        await api.store.report([(job.lease, Progress(50, "half"))])
        assert (await store.get(["failed"]))["failed"].progress == Progress(50, "half")
        assert await finish(api.store, job, State.DEAD, error=BOOM)
        job = await claim_one(api.store)
        assert await finish(api.store, job, State.COMPLETED, result=b"\x92\x01*")
        found = await store.get(["failed", "done"])
        assert found["failed"].error == Failure(BOOM.kind, BOOM.message, BOOM.traceback)
        assert (found["done"].result, found["done"].attempt) == (b"\x92\x01*", 1)
        assert found["done"].finished_at == (await api.store.get(["done"]))["done"].finished_at


async def test_lists_go_page_by_page() -> None:
    async with bare() as api, opened(url_of(api)) as store:
        await put(api.store, *(f"job-{n}" for n in range(5)), spec=payload(), queue="mail")
        await put(api.store, "other", spec=payload("other"))
        query, listed = JobQuery(queue="mail", states=(State.PENDING,), limit=2), list[str]()
        while True:
            page = await store.find(query)
            listed += [job.id for job in page.jobs]
            if page.cursor is None:
                break
            query = replace(query, cursor=page.cursor)
        assert listed == [f"job-{n}" for n in range(5)]
        assert [job.id for job in (await store.find(JobQuery(task="other"))).jobs] == ["other"]
        assert len((await store.find(JobQuery(limit=10_000))).jobs) == 6
        with pytest.raises(InvalidOption, match="cursor"):
            await store.find(JobQuery(cursor="nonsense"))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"queue": "mail", "priority": 0, "max_retries": 0, "timeout": 2.5, "keep": 0},
        {"delay": 1.234, "labels": {"a": "b"}, "expires_in": 7.5},
        {"unique": "k"},
        {"unique": "k", "unique_for": "started", "on_conflict": "last"},
        {"unique": "k", "unique_for": 1.5, "on_conflict": "replace"},
        {"depends_on": "parent", "orphaned": "run"},
        {"sequence": "s"},
        {"group": "g", "weight": 7},
        {"limit": Limit(rate="10/s")},
        {"limit": Limit(rate="7/90s", burst=3, concurrency=2, key="k", name="n")},
        {"limit": Limit(rate=(3, 0.25), window=True)},
        {"limit": Limit(concurrency=4, key="k")},
    ],
)
async def test_every_option_arrives_as_it_was_meant(options: dict[str, Any]) -> None:
    app = Windlass("memory://")
    # What the server's own task says must not count.
    app.task(name="work", timeout=99, priority=99, group="g2", weight=5, limit=Limit(rate="1/h"))(
        lambda *args: None
    )
    async with bare(app) as api, connect(url_of(api)) as client:
        await api.store.insert([new_job("parent", payload())])
        task = client.task("work").using(**options)
        job = await task.using(id="sent").aenqueue(1)
        asked = task.using(id="sent").call(1).job
        sent = (await api.store.get([job.id]))["sent"]
        assert sent.spec == asked.spec
        assert (sent.queue, sent.priority) == (asked.queue, asked.priority)
        # A window is the store's affair, and the key not on the job.
        assert sent.unique == (None if asked.spec.unique_for > 0 else asked.unique)
        assert sent.due - sent.created_at == asked.delay


async def test_what_a_message_cannot_say_is_refused() -> None:
    async with bare() as api, connect(url_of(api)) as client:
        add = client.task("add")
        with pytest.raises(UsageError, match="A workflow is not offered over gRPC"):
            await client.aenqueue_workflow(chain(add.step(1), add.step()))
        app = Windlass(url_of(api))
        gather = app.task(batch=Batch(size=10))(lambda items: None)
        with pytest.raises(UsageError, match="takes batches is not offered"):
            await gather.aenqueue(1)
        await app.aclose()
        assert await api.number() == 0


async def test_a_producer_waits_for_results() -> None:
    app = Shop()
    worker = await app.worker(EVERY_QUEUE)
    await worker.start()

    def produce(url: str) -> None:
        with connect(url) as client:
            assert client.task("add").enqueue(1, b=2).result(30) == 3
            later = client.task("add").using(delay=3600).enqueue(1)
            later.cancel()
            with pytest.raises(WrongState, match="cancelled already"):
                later.cancel()
            with pytest.raises(UnknownJob):
                client.job("nobody").result()

    async with bare(app) as api:
        async with connect(url_of(api)) as client:
            jobs = await asyncio.gather(*(client.task("add").aenqueue(n) for n in range(30)))
            assert [await job.aresult(30) for job in jobs] == [n + 2 for n in range(30)]
            with pytest.raises(UnknownTask, match="nobody"):
                await client.task("nobody").aenqueue()
            with pytest.raises(PayloadTooLarge):
                await connect(url_of(api), max_payload=1 << 30).task("greet").aenqueue("x" * 2**21)
        await asyncio.to_thread(produce, url_of(api))
        app.opened.set()
        await worker.stop()


async def test_keys_and_their_roles() -> None:
    async with bare() as api:
        key = await api.add_key("enqueue")
        for wrong in ("", "wl_wrong"):
            async with opened(url_of(api, wrong)) as store:
                with pytest.raises(Unauthenticated):
                    await store.insert([new_job("a", payload())])
        async with opened(url_of(api, key)) as store:
            assert key not in repr(store) + repr(vars(store))
            await store.insert([new_job("a", payload())])
            with pytest.raises(Forbidden, match="role read"):
                await store.get(["a"])


async def test_outages_are_told_and_survived() -> None:
    port = free_port()
    store = open_store(f"grpc://127.0.0.1:{port}?patience=0.1&timeout=5")
    with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port} did not answer") as caught:
        await store.open()
    assert "\n" not in str(caught.value)
    async with bare(grpc_port=port):
        await store.open()
        await store.insert([new_job("a", payload())])
    with pytest.raises(StoreUnavailable):
        await store.get(["a"])
    await store.close()
    with pytest.raises(StoreError, match="closed"):
        await store.ping()
    patient = open_store(f"grpc://127.0.0.1:{port}?patience=30")
    opening = asyncio.create_task(patient.open())
    await asyncio.sleep(0)
    async with bare(grpc_port=port):
        await opening
        await patient.close()


async def test_too_many_requests_wait_for_their_turn() -> None:
    async with bare(rate="20/s") as api, opened(url_of(api)) as store:
        for n in range(15):
            await store.insert([new_job(f"job-{n}", payload())])
    async with bare(rate="1/h") as api, opened(url_of(api)) as store:
        with pytest.raises(Throttled) as caught:
            await store.get(["a"])
            await store.get(["a"])
        assert caught.value.after > 60


async def test_a_server_that_is_another_is_told() -> None:
    async with bare() as api:
        with pytest.raises(StoreUnavailable, match="did not answer as it should"):
            async with opened(f"grpc://127.0.0.1:{api.port}?patience=0"):
                pass


async def test_tls_with_an_authority_of_ones_own(tmp_path: Path) -> None:
    made = certify(tmp_path)
    files = {"tls_cert": str(made.certificate("server")), "tls_key": str(made.key("server"))}
    files["tls_client_ca"] = str(made.authority)
    async with bare(None, tls=False, **files) as api:
        url = url_of(api, query=f"?patience=0&ca={made.authority}").replace("grpc:", "grpcs:")
        proof = f"&cert={made.certificate('client')}&cert_key={made.key('client')}"
        async with opened(url + proof) as store:
            await store.insert([new_job("a", payload())])
        for wrong in (url, url_of(api, query="?patience=0").replace("grpc:", "grpcs:")):
            with pytest.raises(StoreUnavailable):
                async with opened(wrong):
                    pass


PROGRAM = """
import os, sys
from windlass import connect
from windlass.errors import StoreError

client = connect(sys.argv[1])
first = client.task("add").enqueue(1)
if os.fork() == 0:
    try:
        client.task("add").enqueue(2)
    except StoreError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
print(first.get().task, flush=True)
"""


async def test_a_child_that_cannot_use_it_is_told_instead_of_hanging() -> None:
    async with bare() as api:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", PROGRAM, url_of(api)),
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0
        told, task = output.decode().splitlines()
        assert told.startswith("gRPC was used before this process was forked") and task == "add"


def test_both_sides_have_the_same_words() -> None:
    assert (channel.ERROR, channel.RETRY_AFTER) == (ERROR, RETRY_AFTER)
