"""Storing a job once, however often it is asked for."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.server.conftest import Serve
from tests.server.serving import Served
from windlass import Windlass
from windlass.core.codec import MSGPACK
from windlass.core.encrypt import Encrypted

KEY = {"Idempotency-Key": "order 7"}


async def test_a_job_of_the_same_id_is_stored_once(api: Served) -> None:
    asked = {"task": "greet", "args": ["Ada"], "id": "hello/1"}
    first, second = [await api.post("jobs", asked) for _ in range(2)]
    assert (first.status, second.status) == (201, 200)
    assert (first.json, second.json["duplicate"]) == ({"id": "hello/1", "duplicate": False}, True)
    assert (await api.get("jobs/hello%2F1")).json["id"] == "hello/1"
    assert await api.number() == 1


async def test_a_unique_key_makes_the_one_that_holds_it_stand_for_the_other(api: Served) -> None:
    asked = {"task": "greet", "args": ["Ada"], "unique": "greeting"}
    first, second = [await api.post("jobs", asked) for _ in range(2)]
    assert second.json == {"id": first.json["id"], "duplicate": True}


@pytest.mark.parametrize("path", ["jobs", "/enqueue"])
async def test_a_request_under_the_same_key_is_stored_once(api: Served, path: str) -> None:
    asked: Any = {"task": "greet", "args": ["Ada"], "headers": {"trace": "1"}}
    if path == "/enqueue":
        asked = {"type": "greet", "payload": ["Ada"]}
    first, second = [await api.post(path, asked, headers=KEY) for _ in range(2)]
    assert (first.status, second.status) == (201, 200)
    assert first.json["id"] == second.json["id"]
    assert await api.number() == 1


@pytest.mark.parametrize(
    "other",
    [
        {"task": "greet", "args": ["Bob"]},
        {"task": "refuse", "args": ["Ada"]},
        {"task": "greet", "args": ["Ada"], "queue": "mail"},
        {"task": "greet", "args": ["Ada"], "delay": 5},
    ],
)
async def test_another_request_under_the_same_key_is_refused(api: Served, other: Any) -> None:
    await api.post("jobs", {"task": "greet", "args": ["Ada"]}, headers=KEY)
    answer = await api.post("jobs", other, headers=KEY)
    assert answer.status == 422
    assert "was used for another request before" in answer.detail
    assert await api.number() == 1


def batch(names: Sequence[str]) -> Any:
    return {"jobs": [{"task": "greet", "args": [name]} for name in names]}


async def test_a_batch_under_a_key_is_stored_once(api: Served) -> None:
    first, second = [
        await api.post("jobs/batch", batch(["Ada", "Bob"]), headers=KEY) for _ in range(2)
    ]
    assert [each["duplicate"] for each in first.json["jobs"]] == [False, False]
    assert [each["duplicate"] for each in second.json["jobs"]] == [True, True]
    assert [each["id"] for each in first.json["jobs"]] == [
        each["id"] for each in second.json["jobs"]
    ]
    assert await api.number() == 2


@pytest.mark.parametrize("names", [["Ada", "Eve"], ["Ada", "Bob", "Eve"], ["Ada"]])
async def test_another_batch_under_the_same_key_stores_nothing(
    api: Served, names: Sequence[str]
) -> None:
    await api.post("jobs/batch", batch(["Ada", "Bob"]), headers=KEY)
    answer = await api.post("jobs/batch", batch(names), headers=KEY)
    assert answer.status == 422
    assert await api.number() == 2


async def test_a_key_belongs_to_who_uses_it(serve: Serve) -> None:
    api = await serve()
    ada, bob = await api.add_key("enqueue"), await api.add_key("enqueue")
    made = [await api.post("jobs", {"task": "x"}, key=key, headers=KEY) for key in (ada, bob)]
    assert [answer.status for answer in made] == [201, 201]
    assert await api.number() == 2


async def test_an_id_and_a_key_are_too_much(api: Served) -> None:
    answer = await api.post("jobs", {"task": "refuse", "id": "mine"}, headers=KEY)
    assert answer.status == 422
    assert answer.detail == "Give an id or an Idempotency-Key, not both."
    assert await api.number() == 0


@pytest.mark.parametrize("key", ["", " ", "a" * 129])
async def test_a_key_is_a_short_text(api: Served, key: str) -> None:
    answer = await api.post("jobs", {"task": "refuse"}, headers={"Idempotency-Key": key})
    assert answer.status == 422
    assert "Idempotency-Key" in answer.detail
    assert await api.number() == 0


async def test_a_payload_that_differs_each_time_is_known_again(serve: Serve) -> None:
    app = Windlass("memory://", codec=Encrypted(MSGPACK, {"k": bytes(32)}))
    app.task(name="greet")(lambda name: None)
    api = await serve(app)
    asked = {"task": "greet", "args": ["Ada"]}
    first, second = [await api.post("jobs", asked, headers=KEY) for _ in range(2)]
    assert (first.status, second.status) == (201, 200)
    other = await api.post("jobs", {"task": "greet", "args": ["Bob"]}, headers=KEY)
    assert other.status == 422
