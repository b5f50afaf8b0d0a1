"""What a request may name: ids and queues with an address, priorities, limits of the app."""

from typing import Any

import pytest

from tests.remote.conftest import call, with_key
from tests.server.conftest import Serve
from tests.server.serving import Served
from windlass import Limit, Windlass
from windlass.core.keyed import SEQUENCE
from windlass.core.lane import Lane
from windlass.core.model import NewJob, Spec
from windlass.errors import Forbidden, InvalidOption
from windlass.testing.jobs import new_job


@pytest.mark.parametrize("name", [".", ".."])
async def test_what_no_address_can_have_names_nothing(bare: Served, name: str) -> None:
    for body in ({"id": name}, {"queue": name}, {"depends_on": [name]}):
        answer = await bare.post("jobs", {"task": "x"} | body)
        assert answer.status == 422, body
    short = {"type": "x", "id": name}
    assert (await bare.post("/enqueue", short)).status == 422
    with pytest.raises(InvalidOption):
        await call(bare.site, "insert", jobs=[NewJob(name, Spec("x", b""))])
    app = Windlass("memory://")
    task = app.task(name="x")(lambda: None)
    for options in ({"id": name}, {"queue": name}):
        with pytest.raises(InvalidOption):
            task.using(**options)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption):
        app.cron("@daily", name=name)(lambda: None)
    assert await bare.number() == 0


@pytest.mark.parametrize(("word", "number"), [("low", 25), ("default", 50), ("high", 75)])
async def test_a_priority_has_a_name_wherever_it_is_given(
    bare: Served, word: str, number: int
) -> None:
    async def priority(id: str) -> int:
        found: int = (await bare.get(f"jobs/{id}")).json["priority"]
        return found

    assert await priority(await bare.enqueue("x", priority=word)) == number
    one, two = await bare.enqueue("x", priority=1), await bare.enqueue("x", priority=1)
    told = await bare.post(f"jobs/{one}/priority", {"priority": word})
    assert (told.status, told.json["priority"]) == (200, number)
    bulk = {"action": "priority", "ids": [two], "priority": word}
    assert (await bare.post("jobs/bulk", bulk)).json["changed"] == 1
    assert [await priority(id) for id in (one, two)] == [number] * 2
    await bare.post(f"jobs/{two}/cancel")
    replayed = await bare.post(f"jobs/{two}/replay", {"priority": word})
    assert replayed.json["priority"] == number
    for path in (f"jobs/{one}/priority", "jobs/bulk"):
        body: dict[str, Any] = {"priority": "urgent"}
        if path == "jobs/bulk":
            body |= {"action": "priority", "ids": [one]}
        assert (await bare.post(path, body)).status == 400


async def test_a_batch_may_have_an_id_twice_with_a_dependent_between(bare: Served) -> None:
    jobs = [{"task": "x", "id": "q1"}, {"task": "x", "id": "q2", "depends_on": ["q1"]}]
    answer = await bare.post("jobs/batch", {"jobs": [*jobs, jobs[0]]})
    assert answer.status == 201, answer
    assert [each["duplicate"] for each in answer.json["jobs"]] == [False, False, True]
    # The first of two counts; and what does come later is named.
    late = [{"task": "x", "id": "q4", "depends_on": ["q5"]}, {"task": "x", "id": "q5"}]
    assert "put q5 first" in (await bare.post("jobs/batch", {"jobs": late})).detail


class Limited(Windlass):
    """Tasks with limits of every kind."""

    def __init__(self) -> None:
        super().__init__("memory://")
        self.task(name="free")(lambda: None)
        self.task(name="one", limit=Limit(concurrency=1, name="api"))(lambda: None)
        self.task(name="each", limit=Limit(concurrency=1, key=lambda who: who))(lambda who: None)
        self.task(name="row", sequence="row")(lambda: None)


MANY = {"concurrency": 1_000}
LIFTS: dict[str, dict[str, Any]] = {
    "its name": {"task": "one", "limit": MANY | {"name": "api"}},
    "none": {"task": "one", "limit": None},
    "its own": {"task": "one", "limit": MANY},
    "another": {"task": "one", "limit": MANY | {"name": "mine"}},
    "of others": {"task": "free", "limit": MANY | {"name": "api"}},
    "of a key": {"task": "each", "args": ["a"], "limit": MANY | {"key": "a"}},
    "of a key of others": {"task": "free", "limit": MANY | {"name": "each", "key": "a"}},
    "no sequence": {"task": "row", "sequence": None},
}


@pytest.fixture
async def limited(serve: Serve) -> Served:
    return await serve(Limited())


@pytest.mark.parametrize("lift", LIFTS)
async def test_who_only_enqueues_lifts_no_limit_of_the_app(limited: Served, lift: str) -> None:
    key, operator = await limited.add_key("enqueue"), await limited.add_key("enqueue", "operate")
    for plain in ({"task": "one"}, {"task": "each", "args": ["a"]}, {"task": "row"}):
        assert (await limited.post("jobs", plain, key=key)).status == 201
    before = (await limited.store.lanes(100)).lanes
    answer = await limited.post("jobs", LIFTS[lift], key=key)
    assert (answer.status, "role operate" in answer.detail) == (403, True)
    batch = {"jobs": [{"task": "free"}, LIFTS[lift]]}
    assert (await limited.post("jobs/batch", batch, key=key)).status == 403
    assert (await limited.store.lanes(100)).lanes == before
    assert (await limited.post("jobs", LIFTS[lift], key=operator)).status == 201


async def test_limits_of_ones_own_can_be_had(limited: Served) -> None:
    key = await limited.add_key("enqueue")
    for limit in ({"concurrency": 2}, MANY | {"name": "mine"}):
        body = {"task": "free", "limit": limit}
        assert (await limited.post("jobs", body, key=key)).status == 201
    named = {"task": "free", "limit": {"concurrency": 1, "name": "api"}}
    assert (await limited.post("jobs", named, key=key)).status == 201
    assert (await limited.post("jobs", {"task": "row", "sequence": "b"}, key=key)).status == 201


@pytest.mark.parametrize(
    "lane",
    [Lane("limit:api", slots=1_000), Lane("limit:each:a"), Lane(f"{SEQUENCE}:row", slots=9)],
    ids=str,
)
async def test_nor_by_the_procedures(limited: Served, lane: Lane) -> None:
    spec = Spec("free", b"\x93\x01\x90\x80", "msgpack", lane=lane)
    with pytest.raises(Forbidden, match="role operate"):
        await call(limited.site, "insert", with_key("enqueue"), jobs=[new_job("a", spec)])
    plain = new_job("b", Spec("one", b"\x93\x01\x90\x80", "msgpack"))
    assert await call(limited.site, "insert", with_key("enqueue"), jobs=[plain])


async def test_tasks_of_other_queues_are_not_told_of(limited: Served) -> None:
    app = limited.app
    app.task(name="letter", queue="mail")(lambda address: None)

    async def told(*queues: str) -> list[str]:
        key = await limited.add_key("read", queues=list(queues))
        answer = await limited.get("tasks", key=key)
        assert answer.json["known"]
        return [each["name"] for each in answer.json["tasks"]]

    assert await told("mail") == ["letter"]
    assert await told("bank") == []
    assert await told("default", "mail") == ["each", "free", "letter", "one", "row"]
    assert await told() == ["each", "free", "letter", "one", "row"]
