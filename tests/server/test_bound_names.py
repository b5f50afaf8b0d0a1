"""Keys that are bound to queues: ids and unique keys of others are neither read, nor taken."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from tests.remote.conftest import call, with_key
from tests.server.conftest import Serve
from tests.server.serving import Served
from windlass import Windlass
from windlass.core.ids import idempotent_id
from windlass.core.model import NewJob, Receipt, Spec
from windlass.core.schedule import Schedule
from windlass.core.unique import scoped_unique, shown_unique
from windlass.errors import Forbidden, InvalidOption, WrongState
from windlass.server import storing

OURS, THEIRS = "mail", "bank"
ROLES = ("read", "enqueue", "operate", "work")
JOB = {"task": "x", "queue": OURS, "delay": 3600}


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


@pytest.fixture
async def key(bare: Served) -> str:
    return await bare.add_key(*ROLES, queues=[OURS])


@pytest.fixture
async def theirs(bare: Served) -> str:
    return await bare.add_key(*ROLES, queues=[THEIRS])


@pytest.fixture
async def every(bare: Served, key: str, theirs: str) -> str:
    return await bare.add_key("admin")


async def test_unique_keys_and_ids_on_every_store(serve: Serve, url: str) -> None:
    app = Windlass(url)
    try:
        api = await serve(app, has_tasks=False)
        keys = {queue: await api.add_key(*ROLES, queues=[queue]) for queue in (OURS, THEIRS)}
        both = await api.add_key(*ROLES, queues=[OURS, THEIRS])
        every = await api.add_key("admin")

        async def stored(key: str, queue: str, **options: Any) -> bool:
            body = JOB | {"queue": queue} | options
            answer = await api.post("jobs", body, key=key)
            assert answer.status in (200, 201), answer
            return answer.status == 201

        named = {"unique": "order-17"}
        assert await stored(keys[OURS], OURS, **named)
        assert not await stored(keys[OURS], OURS, **named)
        assert not await stored(both, OURS, **named)
        # Nobody in another queue, and nobody who is not bound, is kept from storing by it.
        assert await stored(keys[THEIRS], THEIRS, **named)
        assert await stored(every, THEIRS, **named)
        assert not await stored(every, OURS, **named)
        assert not await stored(both, THEIRS, **named)
        long = {"unique": "k" * 255, "unique_for": 3600}
        assert [await stored(each, OURS, **long) for each in (keys[OURS], both)] == [True, False]
        assert await stored(keys[THEIRS], THEIRS, **long)
        found = (await api.get("jobs", params={"queue": OURS}, key=keys[OURS])).json["jobs"]
        assert "order-17" in {job["unique"] for job in found}

        assert await stored(keys[THEIRS], THEIRS, id="inv-17")
        before = await api.number()
        for body in (JOB | {"id": "inv-17"},):
            answer = await api.post("jobs", body, key=keys[OURS])
            assert (answer.status, THEIRS in answer.detail) == (409, False)
        batch = {"jobs": [JOB, JOB | {"id": "inv-17"}, JOB | {"id": "mine"}]}
        assert (await api.post("jobs/batch", batch, key=keys[OURS])).status == 409
        assert await api.number() == before
        assert (await api.get("jobs/mine", key=every)).status == 404
        assert not await stored(keys[THEIRS], THEIRS, id="inv-17")
    finally:
        await app.aclose()


@pytest.mark.parametrize("conflict", ["replace", "last", "reject"])
async def test_no_conflict_reaches_a_job_of_others(
    bare: Served, key: str, every: str, conflict: str
) -> None:
    theirs = JOB | {"queue": THEIRS, "unique": "u", "id": "held", "args": [1]}
    assert (await bare.post("jobs", theirs, key=every)).status == 201
    before = (await bare.get("jobs/held", key=every)).json
    body = JOB | {"unique": "u", "on_conflict": conflict, "args": [2]}
    answer = await bare.post("jobs", body, key=key)
    assert answer.status == (201 if conflict == "reject" else 403)
    assert (await bare.get("jobs/held", key=every)).json == before


async def test_the_procedures_keep_to_it(bare: Served, key: str, every: str) -> None:
    site, caller = bare.site, with_key(*ROLES, queues=(OURS,))
    spec = Spec("x", b"\x93\x01\x90\x80", "msgpack")
    await site.store.insert([NewJob("held", spec, THEIRS, unique="u")])
    with pytest.raises(WrongState, match="choose another"):
        await call(site, "insert", caller, jobs=[NewJob("held", spec, OURS)])
    with pytest.raises(WrongState):
        jobs = [NewJob("one", spec, OURS), NewJob("held", spec, OURS)]
        await call(site, "insert", caller, jobs=jobs)
    assert await site.store.get(["one"]) == {}
    (made,) = await call(site, "insert", caller, jobs=[NewJob("two", spec, OURS, unique="u")])
    assert made == Receipt("two", duplicate=False)
    job = (await site.store.get(["two"]))["two"]
    assert (job.unique, shown_unique(job.unique)) == (scoped_unique(OURS, "u"), "u")
    # As somebody who has read it gives it back.
    again = NewJob("three", spec, OURS, unique=job.unique)
    assert (await call(site, "insert", caller, jobs=[again]))[0].id == "two"
    elsewhere = NewJob("four", spec, OURS, unique=scoped_unique(THEIRS, "u"))
    with pytest.raises(InvalidOption):
        await call(site, "insert", caller, jobs=[elsewhere])


async def test_ids_that_are_made_of_what_can_be_guessed_cannot_be_taken(
    bare: Served, key: str, every: str
) -> None:
    victim = every.split("_")[1]
    made = f"{idempotent_id(victim, 'order 17')}.1"
    tick = Schedule("nightly", "@daily", Spec("x", b""), queue=THEIRS).new_job(1_800_000_000_000)
    for id in (made, tick.id):
        assert (await bare.post("jobs", JOB | {"id": id}, key=key)).status == 422
        batch = {"jobs": [JOB | {"id": id}]}
        assert (await bare.post("jobs/batch", batch, key=key)).status == 422
        short = {"type": "x", "queue": OURS, "id": id}
        assert (await bare.post("/enqueue", short, key=key)).status == 422
        caller = with_key(*ROLES, queues=(OURS,))
        with pytest.raises(InvalidOption, match="choose another"):
            await call(bare.site, "insert", caller, jobs=[NewJob(id, Spec("x", b""), OURS)])
    headers = {"Idempotency-Key": "order 17"}
    for who, status in ((every, 201), (key, 201), (every, 200), (key, 200)):
        answer = await bare.post("jobs", JOB, key=who, headers=headers)
        assert answer.status == status, answer


async def test_an_id_that_is_taken_meanwhile_leaves_nothing_behind(
    bare: Served, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = Spec("x", b"\x93\x01\x90\x80", "msgpack")

    async def looked(*_: object) -> None:
        await bare.store.insert([NewJob("held", spec, THEIRS)])

    monkeypatch.setattr(storing, "refuse_taken", looked)
    batch = {"jobs": [JOB | {"id": "mine"}, JOB | {"id": "held"}]}
    assert (await bare.post("jobs/batch", batch, key=key)).status == 409
    assert set(await bare.store.get(["mine", "held"])) == {"held"}


async def test_what_follows_a_workflow_has_no_unique_key_and_no_id_of_others(
    bare: Served, key: str, every: str
) -> None:
    from tests.remote.test_procedures import workflow

    caller = with_key(*ROLES, queues=(OURS, "mine"))
    spec = Spec("x", b"\x93\x01\x90\x80", "msgpack")
    keyed = NewJob("w:success", spec, OURS, unique="u")
    with pytest.raises(Forbidden, match="unique key"):
        await call(bare.site, "insert", caller, jobs=[workflow(keyed, None)])
    await bare.store.insert([NewJob("held", spec, THEIRS)])
    with pytest.raises(WrongState):
        await call(bare.site, "insert", caller, jobs=[workflow(NewJob("held", spec, OURS), None)])


async def test_schedules_do_not_clash(bare: Served, key: str, every: str) -> None:
    body = {"text": "0 9 * * *", "job": {"task": "x", "queue": THEIRS}}
    assert (await bare("PUT", "cron/theirs", body, key=every)).status == 200
    mine = body | {"job": {"task": "x", "queue": OURS}}
    assert (await bare("PUT", "cron/theirs", mine, key=key)).status == 403
    assert (await bare("PUT", "cron/ours", mine, key=key)).status == 200
    assert (await bare.post("cron/ours/trigger", key=key)).status == 201
    assert (await bare.post("cron/theirs/trigger", key=key)).status == 404


async def test_a_replay_keeps_the_key_within_its_queue(bare: Served, key: str, every: str) -> None:
    body = JOB | {"unique": "u", "id": "old"}
    assert (await bare.post("jobs", body, key=key)).status == 201
    assert (await bare.post("jobs/old/cancel", key=key)).status == 200
    replayed = await bare.post("jobs/old/replay", {"priority": 75}, key=key)
    assert (replayed.status, replayed.json["unique"]) == (200, "u")
    assert (await bare.post("jobs", JOB | {"unique": "u"}, key=key)).status == 200
    assert (await bare.post("jobs", JOB | {"unique": "u"}, key=every)).status == 201


async def test_many_bound_producers_store_one_job_of_a_key(bare: Served, key: str) -> None:
    second = await bare.add_key("enqueue", queues=[OURS, "more"])
    answers = await asyncio.gather(
        *(bare.post("jobs", JOB | {"unique": "u"}, key=each) for each in [key, second] * 10)
    )
    assert sorted(answer.status for answer in answers) == [200] * 19 + [201]
    assert len({answer.json["id"] for answer in answers}) == 1
