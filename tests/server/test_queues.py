"""Queues: counted, paused, purged."""

from io import BytesIO
from typing import Any

import pytest

from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass.core.states import State
from windlass.testing.work import work


async def test_queues_are_listed_with_their_counts_and_ages(api: Served) -> None:
    await api.enqueue("add", 1)
    await api.enqueue("add", 1, delay=60)
    await api.enqueue("greet", "Ada")
    queues = {queue["name"]: queue for queue in (await api.get("queues")).json["queues"]}
    assert queues["sums"]["counts"] == {"pending": 1, "scheduled": 1}
    assert queues["default"]["counts"] == {"pending": 1}
    assert queues["sums"]["oldest_at"] is not None
    assert queues["sums"]["age"] >= 0
    assert queues["sums"]["paused"] is False


async def test_a_queue_that_nobody_has_used_is_empty(api: Served) -> None:
    answer = await api.get("queues/new")
    assert answer.json == {
        "name": "new",
        "paused": False,
        "counts": {},
        "oldest_at": None,
        "age": 0.0,
    }


async def test_a_paused_queue_gives_nothing_until_it_is_resumed(api: Served, shop: Shop) -> None:
    id = await api.enqueue("add", 1)
    assert (await api.post("queues/sums/pause")).json["paused"] is True
    assert await shop.client.store() is api.store
    assert not await api.store.claim({"sums": 1}, 1, 1000, "w")
    assert (await api.get("queues/sums")).json["paused"] is True
    assert (await api.post("queues/sums/resume")).json["paused"] is False
    await work(shop, EVERY_QUEUE)
    assert (await api.get(f"jobs/{id}")).json["state"] == "completed"


async def test_a_purge_deletes_what_waits(api: Served) -> None:
    for number in range(4):
        await api.enqueue("add", number)
    await api.enqueue("add", 1, delay=60)
    await api.enqueue("greet", "Ada")
    some = (await api.post("queues/sums/purge", {"states": ["pending"], "most": 3})).json
    assert some == {"changed": 3, "left": 0, "more": True}
    rest = (await api.post("queues/sums/purge")).json
    assert rest == {"changed": 2, "left": 0, "more": False}
    assert await api.number(State.PENDING) == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [({"states": ["active"]}, 422), ({"states": ["asleep"]}, 400), ({"most": 0}, 400), ([], 400)],
)
async def test_a_purge_that_cannot_be_deletes_nothing(api: Served, body: Any, status: int) -> None:
    await api.enqueue("add", 1)
    assert (await api.post("queues/sums/purge", body)).status == status
    assert await api.number() == 1


async def test_what_cannot_be_the_name_of_a_queue_is_422(api: Served) -> None:
    for method, path in [
        ("GET", "queues/%20"),
        ("POST", "queues/%00/pause"),
        ("POST", "queues/%20a/resume"),
        ("POST", f"queues/{'a' * 129}/purge"),
    ]:
        answer = await api(method, path)
        assert (answer.status, "The name of a queue" in answer.detail) == (422, True)
    assert (await api.get("queues")).json == {"queues": []}


async def test_a_body_that_is_null_is_not_taken_for_none(api: Served) -> None:
    await api.enqueue("add", 1)
    kind = {"Content-Type": "application/json"}
    answer = await api("POST", "queues/sums/purge", data=BytesIO(b"null"), headers=kind)
    assert (answer.status, "got `null`" in answer.detail) == (400, True)
    assert await api.number() == 1
