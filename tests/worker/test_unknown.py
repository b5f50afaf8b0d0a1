"""Jobs that a worker cannot run: of a task that it does not have, or damaged in the store."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Failure, Job, NewJob, Spec, decode_spec, encode_spec
from windlass.core.states import State
from windlass.errors import UnknownTask
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import job_of
from windlass.testing.work import work

PAYLOAD = b"\x93\x01\x90\x80"
"""A call without arguments."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def app(url: str, clock: FakeClock) -> AsyncIterator[Windlass]:
    app = Windlass(url, clock=clock)

    @app.task
    async def fine() -> str:
        return "fine"

    yield app
    await app.aclose()


async def insert(app: Windlass, id: str, task: str = "later", **options: Any) -> None:
    store = await app.client.store()
    await store.insert([NewJob(id, Spec(task, PAYLOAD, **options))])


async def look(app: Windlass, id: str) -> Job:
    return await job_of(await app.client.store(), id)


def error_of(job: Job) -> Failure:
    assert job.error is not None
    return job.error


class TestUnknownTask:
    async def test_it_waits_for_a_worker_that_knows_it_and_keeps_every_attempt(
        self, app: Windlass, clock: FakeClock
    ) -> None:
        await insert(app, "new", max_retries=0)
        for _ in range(5):
            await work(app)
            job = await look(app, "new")
            assert (job.state, job.attempt) == (State.SCHEDULED, 0)
            assert error_of(job).kind == "UnknownTask"
            clock.advance((job.due - clock.now) / 1000)

        @app.task(name="later")
        async def later() -> str:
            return "done"

        await work(app)
        job = await look(app, "new")
        assert (job.state, job.attempt) == (State.COMPLETED, 1)

    async def test_it_waits_longer_and_longer_but_never_long(
        self, app: Windlass, clock: FakeClock
    ) -> None:
        await insert(app, "new")
        waits = []
        for _ in range(12):
            await work(app)
            due = (await look(app, "new")).due
            waits.append((due - clock.now) / 1000)
            clock.advance(waits[-1])
        assert waits == sorted(waits)
        assert (waits[0], waits[-1]) == (2, 60)

    async def test_without_such_a_worker_it_is_dead_in_the_end_with_the_reason(
        self, app: Windlass, clock: FakeClock
    ) -> None:
        settings = WorkerSettings(unknown_patience=60)
        await insert(app, "new")
        await work(app, settings)
        clock.advance(59)
        await work(app, settings)
        assert (await look(app, "new")).state is State.SCHEDULED
        clock.advance(60)
        await work(app, settings)
        job = await look(app, "new")
        assert job.state is State.DEAD
        assert str(error_of(job)) == (
            "UnknownTask: no worker has known the task later for 60 s; "
            "start one that does and replay the job"
        )

    async def test_a_dead_one_that_is_replayed_is_waited_for_anew(
        self, app: Windlass, clock: FakeClock
    ) -> None:
        settings = WorkerSettings(unknown_patience=60)
        await insert(app, "new")
        await work(app, settings)
        clock.advance(3600)
        await work(app, settings)
        store = await app.client.store()
        assert await store.replay(["new"]) == {"new"}
        clock.advance(3600)
        await work(app, settings)
        assert (await look(app, "new")).state is State.SCHEDULED

    async def test_without_patience_it_is_dead_at_once(self, app: Windlass) -> None:
        await insert(app, "new")
        await work(app, WorkerSettings(unknown_patience=0))
        assert (await look(app, "new")).state is State.DEAD

    async def test_it_does_not_keep_the_others_waiting(self, app: Windlass) -> None:
        for n in range(50):
            await insert(app, f"new-{n}")
        await insert(app, "known", "fine")
        await work(app, WorkerSettings(concurrency=1))
        assert (await look(app, "known")).state is State.COMPLETED

    async def test_a_handler_that_raises_the_same_error_has_failed(self, app: Windlass) -> None:
        @app.task(max_retries=0)
        async def looks_up() -> None:
            raise UnknownTask("No such thing.")

        handle = await looks_up.aenqueue()
        await work(app)
        job = await handle.aget()
        assert (job.state, job.attempt) == (State.DEAD, 1)
        assert str(error_of(job)) == "UnknownTask: No such thing."


Damage = Callable[[str, bytes], None]
"""Write a record over that of a job."""


@pytest.fixture
async def damage(app: Windlass, tmp_path: Path) -> Damage:
    """The hand that harms: below the contract, straight in the engine."""
    store = await app.client.store()

    def harm(id: str, record: bytes) -> None:
        if isinstance(store, MemoryStore):
            # It keeps no records, so what a store would have made of this one is put there.
            job = store._jobs[id]
            store._jobs[id] = msgspec.structs.replace(job, spec=decode_spec(record))
            return
        with sqlite3.connect(tmp_path / "jobs.db") as raw:
            done = raw.execute("UPDATE windlass_jobs SET spec = ? WHERE id = ?", (record, id))
            assert done.rowcount == 1
        raw.close()

    return harm


WHOLE = Spec("fine", PAYLOAD)
DAMAGED = {
    "nothing": b"",
    "noise": bytes(range(200, 256)),
    "half": encode_spec(WHOLE)[:5],
    "of another shape": msgspec.msgpack.encode({"task": "fine"}),
    "of other types": msgspec.msgpack.encode([1, 2, 3]),
}
"""Records that are no spec."""

WRONG = {
    "no msgpack": (Spec("fine", b"\xc1\xff"), "not valid MessagePack"),
    "no call": (Spec("fine", msgspec.msgpack.encode("hello")), "arguments"),
    "empty": (Spec("fine", b""), "not valid MessagePack"),
    "too new": (Spec("fine", msgspec.msgpack.encode([99, [], {}])), "99"),
    "unknown codec": (Spec("fine", PAYLOAD, "martian"), "'martian', which this process cannot"),
    "no json": (Spec("fine", b"{", "json"), "not valid JSON"),
}
"""Records that can be read, of calls that cannot, and a part of the reason."""


class TestCorruptJob:
    async def check(self, app: Windlass, reason: str) -> None:
        """The harmed job is dead by itself; one before and one after it have run."""
        async with asyncio.timeout(20):
            await work(app, WorkerSettings(concurrency=1))
        states = {id: (await look(app, id)).state for id in ("before", "harmed", "after")}
        assert states == {
            "before": State.COMPLETED,
            "harmed": State.DEAD,
            "after": State.COMPLETED,
        }
        error = error_of(await look(app, "harmed"))
        assert error.kind == "CorruptRecord"
        assert reason in error.message

    @pytest.fixture(autouse=True)
    async def jobs(self, app: Windlass) -> None:
        for id in ("before", "harmed", "after"):
            await insert(app, id, "fine")

    @pytest.mark.parametrize("record", DAMAGED.values(), ids=DAMAGED)
    async def test_a_damaged_record_is_dead_with_its_reason(
        self, app: Windlass, damage: Damage, record: bytes
    ) -> None:
        damage("harmed", record)
        await self.check(app, "damaged and cannot be read")

    @pytest.mark.parametrize(("spec", "reason"), WRONG.values(), ids=WRONG)
    async def test_a_call_that_cannot_be_read_is_dead_with_its_reason(
        self, app: Windlass, damage: Damage, spec: Spec, reason: str
    ) -> None:
        damage("harmed", encode_spec(spec))
        await self.check(app, reason)

    @pytest.mark.parametrize("url", ["sqlite"], indirect=True)
    @pytest.mark.parametrize("value", ["'text'", "17", "1.5", "CAST(x'ff' AS TEXT)"])
    async def test_a_record_of_another_type_stops_no_claim(
        self, app: Windlass, tmp_path: Path, value: str
    ) -> None:
        with sqlite3.connect(tmp_path / "jobs.db") as raw:
            raw.execute(f"UPDATE windlass_jobs SET spec = {value} WHERE id = 'harmed'")
        raw.close()
        await self.check(app, "damaged and cannot be read")

    @pytest.mark.parametrize("url", ["sqlite"], indirect=True)
    @pytest.mark.parametrize("value", ["'{'", "x'ff00'", "CAST(x'ff' AS TEXT)", "'[]'", "17"])
    async def test_a_damaged_error_stops_nothing(
        self, app: Windlass, tmp_path: Path, value: str
    ) -> None:
        with sqlite3.connect(tmp_path / "jobs.db") as raw:
            raw.execute(f"UPDATE windlass_jobs SET error = {value} WHERE id = 'harmed'")
        raw.close()
        await work(app, WorkerSettings(concurrency=1))
        for id in ("before", "harmed", "after"):
            assert (await look(app, id)).state is State.COMPLETED
