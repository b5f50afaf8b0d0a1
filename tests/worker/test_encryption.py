"""With a codec that encrypts, a worker runs and reads nothing that was put there without a key."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.app.engines import ENGINES, url_of
from windlass import Context, State, Windlass, chain, group
from windlass.core.codec import JSON, MSGPACK, Codec, decode_call, encode_call, encode_result
from windlass.core.encrypt import Encrypted
from windlass.core.model import Job, NewJob, Spec, Transition
from windlass.core.result import JUDGE
from windlass.errors import CorruptRecord, InvalidOption, WrongState, WrongTask
from windlass.middleware import Middleware, changed
from windlass.stores.contract import Store
from windlass.testing.work import work

OLD, NEW, OTHER = b"o" * 32, b"n" * 32, b"x" * 32
CODEC = Encrypted(MSGPACK, {"old": OLD})


class Shop:
    """An app, and what its handlers were called with."""

    def __init__(self, url: str, codec: Codec = CODEC, **options: Any) -> None:
        self.app = Windlass(url, codec=codec, **options)
        self.calls: list[tuple[Any, ...]] = []
        calls = self.calls

        @self.app.task(name="pay", max_retries=0)
        async def pay(who: str, amount: int) -> str:
            calls.append((who, amount))
            return f"{who} has {amount}"

        @self.app.task(name="fine", max_retries=0)
        async def fine(who: str, amount: int) -> None:
            calls.append(("fine", who, amount))

        @self.app.task(name="tell", max_retries=0)
        async def tell(text: str) -> str:
            calls.append((text,))
            return text.upper()

        self.pay, self.fine, self.tell = pay, fine, tell

    async def store(self) -> Store:
        return await self.app.client.store()

    async def get(self, id: str) -> Job:
        return (await (await self.store()).get([id]))[id]

    async def put(self, id: str, spec: Spec) -> None:
        """What somebody who can write to the store does to a job."""
        store = await self.store()
        await store.cancel([id])
        await store.delete([id])
        await store.insert([NewJob(id, spec)])


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


async def test_what_was_not_encrypted_for_this_job_is_not_run(url: str) -> None:
    shop = Shop(url)
    mine = await shop.pay.aenqueue("alice", 1)
    theirs = await shop.pay.aenqueue("mallory", 1_000_000)
    spec, other = (await shop.get(mine.id)).spec, (await shop.get(theirs.id)).spec
    forged = {
        "msgpack": replace(spec, payload=_call(MSGPACK), content_type="msgpack"),
        "json": replace(spec, payload=_call(JSON), content_type="json"),
        "protobuf": replace(spec, payload=b"mallory", content_type="protobuf"),
        "relabelled": replace(spec, payload=_call(MSGPACK)),
        "wrong-ring": replace(spec, payload=_call(Encrypted(MSGPACK, {"old": OTHER}))),
        "another-job": other,
        "another-task": replace(other, task="fine"),
        "unbound": replace(spec, payload=_call(CODEC)),
    }
    for id, each in forged.items():
        await shop.put(id, each)
    await shop.put(theirs.id, replace(other, task="fine"))
    await work(shop.app)
    assert shop.calls == [("alice", 1)]
    for id in (*forged, theirs.id):
        job = await shop.get(id)
        assert (job.state, job.error and job.error.kind) == (State.DEAD, "CorruptRecord"), id
    assert await mine.aresult() == "alice has 1"
    assert await (await shop.pay.aenqueue("bob", 2)).aget()
    await work(shop.app)
    assert shop.calls[1:] == [("bob", 2)]
    await shop.app.aclose()


def _call(codec: Codec) -> bytes:
    return encode_call(codec, ("mallory", 1_000_000), {})


def _finished(job: Job, result: bytes | None) -> Transition:
    return Transition(job.id, job.fence, State.COMPLETED, result=result, queue=job.queue)


@pytest.mark.parametrize("what", ["msgpack", "another", "arguments", "nothing"])
async def test_a_result_that_was_put_there_is_not_read(what: str) -> None:
    shop = Shop("memory://")
    store = await shop.store()
    mine, other = await shop.tell.aenqueue("a"), await shop.tell.aenqueue("b")
    for job in await store.claim({"default": 2}, 2, 30_000, "w"):
        results = {
            "msgpack": encode_result(MSGPACK, "forged"),
            "another": encode_result(CODEC, "B", id=other.id, task="tell"),
            "arguments": (await shop.get(mine.id)).spec.payload,
            "nothing": None,
        }
        await store.finish([_finished(job, results[what])])
    with pytest.raises(CorruptRecord):
        await mine.aresult(timeout=5)
    # Nor does it flow into a job that takes it.
    after = replace((await shop.get(mine.id)).spec, parents=(mine.id,), inputs=1)
    payload = encode_call(CODEC, (), {}, "after", "tell")
    await store.insert([NewJob("after", replace(after, payload=payload))])
    await work(shop.app)
    assert (await shop.get("after")).state is State.DEAD
    assert shop.calls == []


async def test_a_result_is_missed_also_in_a_job_that_is_made_to_look_like_a_workflow() -> None:
    """A workflow may have left its results with its jobs; then that is no fault."""
    shop = Shop("memory://")
    store = await shop.store()
    mine, other = await shop.tell.aenqueue("a"), await shop.tell.aenqueue("b")
    await work(shop.app)
    job = await shop.get(mine.id)
    for task in ("tell", JUDGE):
        spec = replace(job.spec, task=task, gathers=True, workflow=mine.id)
        spec = replace(spec, parents=(other.id,), inputs=1)
        await store.delete([mine.id])
        await store.restore([replace(job, result=None, spec=spec)])
        with pytest.raises(CorruptRecord):
            await shop.app.job(mine.id).aresult(timeout=5)
        with pytest.raises(CorruptRecord if task == JUDGE else WrongTask):
            await shop.app.workflow(mine.id).aresult(timeout=5)
        id = f"after-{task}"
        after = Spec("tell", encode_call(CODEC, (), {}, id, "tell"), CODEC.name, max_retries=0)
        await store.insert([NewJob(id, replace(after, parents=(mine.id,), inputs=1))])
        await work(shop.app)
        assert (await shop.get(id)).state is State.DEAD
    assert shop.calls == [("a",), ("b",)]


async def test_signals_and_checkpoints_of_others_are_not_read() -> None:
    shop = Shop("memory://")
    seen: list[Any] = []

    @shop.app.task(name="wait", context=True, max_retries=0)
    async def wait(context: Context, n: int) -> None:
        seen.append(await context.await_for("go"))

    @shop.app.task(name="go_on", context=True, max_retries=0)
    async def go_on(context: Context, n: int) -> None:
        seen.append(context.state)

    store = await shop.store()
    first, second = await wait.aenqueue(1), await wait.aenqueue(2)
    await work(shop.app)
    await first.asignal("other", 7)
    mail = (await shop.get(first.id)).mail
    assert mail is not None
    for forged in (mail["other"], encode_result(MSGPACK, 7)):
        await store.signal(second.id, "go", forged)
    await first.asignal("go", 8)
    await work(shop.app)
    assert seen == [8]
    assert (await shop.get(second.id)).state is State.DEAD
    last = await go_on.aenqueue(3)
    (job,) = await store.claim({"default": 1}, 1, 30_000, "w")
    await store.checkpoint([(job.lease, encode_result(CODEC, 1, "checkpoint", first.id, "wait"))])
    await store.finish([Transition(job.id, job.fence, State.RETRY, queue=job.queue)])
    await work(shop.app)
    assert seen == [8]
    assert (await shop.get(last.id)).state is State.DEAD


async def test_all_that_a_job_can_do_works_encrypted() -> None:
    shop = Shop("memory://")
    app = shop.app
    kept: list[Any] = []

    @app.task(name="stepwise", context=True, retry_on=(ValueError,), backoff=0, max_retries=1)
    async def stepwise(context: Context) -> Any:
        if context.state is None:
            await context.acheckpoint({"at": 2})
            raise ValueError
        return [context.state, await context.await_for("go")]

    @app.cron("* * * * *", name="often", args=("tick",))
    @app.task(name="tock")
    async def tock(text: str) -> None:
        kept.append(text)

    job = await stepwise.aenqueue()
    chosen = await shop.tell.using(id="chosen").aenqueue("chosen")
    many = await app.aenqueue_many([shop.tell.call(str(n)) for n in range(3)])
    nothing = await shop.fine.aenqueue("bob", 1)
    flow: Any = await app.aenqueue_workflow(
        chain(group(shop.tell.step("x"), shop.tell.step("y")), _joined(app).step()),
        on_success=shop.tell.step(),
    )
    for _ in range(2):
        await job.asignal("go", "now")
    with pytest.raises(WrongState, match="the first one stays"):
        await job.asignal("go", "later")
    store = await shop.store()
    await store.put_schedules([*app.registry.schedules.values()])
    (schedule,) = await store.schedules()
    await store.insert([schedule.new_job(1_760_000_000_000)])
    triggered = await app.schedules.atrigger("often")
    await app.schedules.achange("often", call=tock.call("changed"))
    (schedule,) = await store.schedules()
    await store.insert([schedule.new_job(1_760_000_060_000)])
    await work(app)
    assert await job.aresult() == [{"at": 2}, "now"]
    assert await chosen.aresult() == "CHOSEN"
    assert [await each.aresult() for each in many] == ["0", "1", "2"]
    assert await app.job(nothing.id).aresult() is None
    assert await flow.aresult() == "X+Y"
    assert (await shop.get(f"{flow.id}:success")).state is State.COMPLETED
    assert (await triggered.aget()).state is State.COMPLETED
    assert sorted(kept) == ["changed", "tick", "tick"]


def _joined(app: Windlass) -> Any:
    @app.task(name="join")
    async def join(parts: list[str]) -> str:
        return "+".join(parts)

    return join


async def test_a_job_that_takes_the_place_of_another_can_be_read(url: str) -> None:
    shop = Shop(url)
    pay = shop.pay.using(unique="alice", on_conflict="replace", delay=60)
    first = await pay.aenqueue("alice", 1)
    again = await pay.aenqueue("alice", 2)
    assert again.id == first.id
    await first.areschedule()
    other = await shop.pay.using(unique="bob").aenqueue("bob", 3)
    await work(shop.app)
    assert sorted(shop.calls) == [("alice", 2), ("bob", 3)]
    assert await again.aresult() == "alice has 2"
    # The key is in the id: what was for one is refused under another.
    spec = (await shop.get(other.id)).spec
    await shop.put(first.id, spec)
    await work(shop.app)
    assert (await shop.get(first.id)).state is State.DEAD
    with pytest.raises(InvalidOption, match="has an id of its own"):
        shop.pay.using(id="mine", unique="bob", on_conflict="replace").call("bob", 1)
    mine = await shop.pay.using(id="mine", unique="cyd").aenqueue("cyd", 4)
    await work(shop.app)
    assert await mine.aresult() == "cyd has 4"
    await shop.app.aclose()


async def test_a_dead_job_is_replayed_with_and_without_other_arguments() -> None:
    shop = Shop("memory://")
    for unique in (None, "k"):
        shop.calls.clear()
        pay = shop.pay.using(unique=unique, validate=False)
        job = await pay.aenqueue("alice", "none")  # type: ignore[arg-type]
        await work(shop.app)
        assert (await job.aget()).state is State.DEAD
        moved = await shop.app.dead.areplay_with(job.id, priority=60)
        await work(shop.app)
        error = (await moved.aget()).error
        assert error is not None
        assert error.kind == "InvalidArguments"
        edited = await shop.app.dead.areplay_with(moved.id, kwargs={"amount": 5}, args=("alice",))
        await work(shop.app)
        assert shop.calls == [("alice", 5)]
        assert await edited.aresult() == "alice has 5"


async def test_a_middleware_may_change_the_id_of_a_job() -> None:
    class Renaming(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, id=f"renamed-{job.spec.labels}" if job.spec.labels else job.id)

    class Keyed(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return job if job.spec.labels else changed(job, unique="k")

    shop = Shop("memory://", middleware=[Renaming(), Keyed()])
    await shop.pay.using(labels={"a": "b"}).aenqueue("alice", 1)
    await shop.pay.aenqueue("bob", 2)
    await work(shop.app)
    assert sorted(shop.calls) == [("alice", 1), ("bob", 2)]


async def test_a_migration_reads_both_until_it_is_over(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    before, reading = Shop(url, MSGPACK), Shop(url, MSGPACK, codecs=[CODEC])
    plain = [await before.pay.aenqueue("alice", n) for n in range(3)]
    window = Encrypted(MSGPACK, {"old": OLD}, accept_unencrypted=True)
    during, after = Shop(url, window), Shop(url)
    await during.pay.aenqueue("bob", 0)
    await work(reading.app)
    assert len(reading.calls) == 4
    assert await during.app.job(plain[0].id).aresult() == "alice has 0"
    with pytest.raises(CorruptRecord, match="not encrypted"):
        await after.app.job(plain[0].id).aresult()
    await before.pay.aenqueue("alice", 3)
    await work(during.app)
    assert during.calls == [("alice", 3)]
    last = await before.pay.aenqueue("alice", 4)
    await work(after.app)
    assert after.calls == []
    error = (await after.get(last.id)).error
    assert error is not None
    assert "accept_unencrypted" in error.message
    for shop in (before, reading, during, after):
        await shop.app.aclose()


async def test_while_it_migrates_either_kind_takes_the_place_of_the_other(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    reading = Shop(url, MSGPACK, codecs=[CODEC])
    during = Shop(url, Encrypted(MSGPACK, {"old": OLD}, accept_unencrypted=True))
    for number, (first, second) in enumerate([(reading, during), (during, reading)]):
        options: Any = {"unique": f"k{number}", "on_conflict": "replace"}
        waiting = await first.pay.using(delay=60, **options).aenqueue("alice", 1)
        replaced = await second.pay.using(**options).aenqueue("alice", 2 + number)
        assert replaced.id == waiting.id
    await work(reading.app)
    assert sorted(reading.calls) == [("alice", 2), ("alice", 3)]
    for shop in (reading, during):
        await shop.app.aclose()


async def test_after_a_rotation_old_jobs_are_run_and_with_the_old_key_gone_they_are_not() -> None:
    shop = Shop("memory://")
    mine = await shop.pay.aenqueue("alice", 1)
    spec = (await shop.get(mine.id)).spec
    for keys, calls in (({"new": NEW, "old": OLD}, [("alice", 1)]), ({"new": NEW}, [])):
        other = Shop("memory://", Encrypted(MSGPACK, keys))
        await other.put(mine.id, spec)
        await work(other.app)
        assert other.calls == calls


def test_codecs_that_do_not_encrypt_are_not_put_beside_one_that_does() -> None:
    class Plain:
        name = "plain"
        binary = True
        encode = MSGPACK.encode
        decode = MSGPACK.decode

    with pytest.raises(InvalidOption, match="does not encrypt"):
        Windlass("memory://", codec=CODEC, codecs=[Plain()])
    with pytest.raises(InvalidOption, match="does not encrypt"):
        Windlass("memory://", codec=CODEC, codecs=[JSON])
    with pytest.raises(InvalidOption, match="again"):
        Encrypted(CODEC, {"k": OLD})


def test_the_record_names_what_it_is_bound_to_as_documented() -> None:
    """So that programs in other languages can read and write it."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    data = encode_call(CODEC, (1,), {}, "job-1", "pay")
    head, nonce, rest = data[:17], data[5:17], data[17:]
    bound = msgspec.msgpack.encode(["msgpack+aesgcm", "arguments", "job-1", "pay"])
    assert MSGPACK.decode(AESGCM(OLD).decrypt(nonce, rest, head + bound)) == [1, [1], {}]
    assert decode_call(CODEC, data, "job-1", "pay") == ([1], {})
