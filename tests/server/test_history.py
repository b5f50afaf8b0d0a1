"""Jobs of the past by the API; the server's own upkeep brings them there."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Serve
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass.config import HistorySettings
from windlass.testing.work import work


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    settings = HistorySettings(url=f"sqlite:///{tmp_path}/history.db", interval=0.02)
    app = Shop(history=settings)
    yield app
    await app.aclose()


@pytest.fixture
async def api(serve: Serve, shop: Shop) -> Served:
    return await serve(shop, upkeep=True)


async def ids(api: Served, key: str | None = None, **filters: Any) -> list[str]:
    answer = await api.get("history", params=filters, key=key)
    assert answer.status == 200, answer
    return [job["id"] for job in answer.json["jobs"]]


async def run(api: Served, shop: Shop) -> tuple[str, str, str]:
    """Run a sum, a greeting and a refusal, until history has them."""
    total = await api.enqueue("add", 1, labels={"shop": "north"})
    greeting = await api.enqueue("greet", "Ada")
    refusal = await api.enqueue("refuse", "the lift is out of order")
    await work(shop, EVERY_QUEUE)
    async with asyncio.timeout(20):
        while len(await ids(api)) < 3:
            await asyncio.sleep(0.02)
    return total, greeting, refusal


async def test_jobs_of_the_past_are_searched(api: Served, shop: Shop) -> None:
    total, greeting, refusal = await run(api, shop)
    assert {*await ids(api)} == {total, greeting, refusal}
    assert await ids(api, state="dead") == [refusal]
    assert await ids(api, task="greet") == [greeting]
    assert await ids(api, queue="sums") == [total]
    assert await ids(api, label="shop=north") == [total]
    assert await ids(api, error="out of order") == [refusal]
    assert await ids(api, since="2100-01-01T00:00:00Z") == []
    assert await ids(api, max_duration="0", min_duration="1000") == []
    found = await api.get("history", params={"sort": "created", "ascending": "true"})
    created = [job["created_at"] for job in found.json["jobs"]]
    assert len(created) == 3
    assert created == sorted(created)  # Two may be of one millisecond.


async def test_a_search_goes_on_where_the_page_before_ended(api: Served, shop: Shop) -> None:
    made = await run(api, shop)
    page = (await api.get("history", params={"limit": "2"})).json
    rest = (await api.get("history", params={"limit": "2", "cursor": page["cursor"]})).json
    assert {job["id"] for job in page["jobs"] + rest["jobs"]} == {*made}
    other = {"sort": "created", "cursor": page["cursor"]}
    assert (await api.get("history", params=other)).status == 422


async def test_a_job_of_the_past_is_shown_with_its_attempts(api: Served, shop: Shop) -> None:
    _, _, refusal = await run(api, shop)
    await api("DELETE", f"jobs/{refusal}")
    past = (await api.get(f"history/{refusal}")).json
    assert (past["job"]["id"], past["job"]["args"]) == (refusal, ["the lift is out of order"])
    (attempt,) = past["attempts"]
    assert (attempt["number"], attempt["state"]) == (1, "dead")
    assert attempt["error"]["message"] == "the lift is out of order"
    assert attempt["ended_at"] >= attempt["started_at"]
    assert (await api.get("history/nobody")).status == 404


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"label": "shop"}, 422),
        ({"sort": "beauty"}, 400),
        ({"since": "yesterday"}, 400),
        ({"since": "2020-01-01T00:00:00"}, 400),
        ({"min_duration": "-1"}, 400),
        ({"error": ""}, 422),
        ({"cursor": "x"}, 422),
        ({"queue": "\0"}, 422),
        ({"task": "\0"}, 422),
        ({"error": "\0"}, 422),
        ({"label": "a=\0"}, 422),
        ({"until": "9999-12-31T23:59:59-12:00"}, 422),
    ],
)
async def test_a_search_says_what_is_wrong_with_it(api: Served, params: Any, status: int) -> None:
    answer = await api.get("history", params=params)
    assert answer.status == status, answer
    assert answer.detail


async def test_a_key_with_queues_finds_nothing_of_others(api: Served, shop: Shop) -> None:
    total, greeting, _ = await run(api, shop)
    key = await api.add_key("read", queues=["sums"])
    assert await ids(api, key, queue="sums") == [total]
    for params in ({}, {"queue": "default"}):
        assert (await api.get("history", params=params, key=key)).status == 403
    assert (await api.get(f"history/{total}", key=key)).status == 200
    hidden = await api.get(f"history/{greeting}", key=key)
    assert (hidden.status, hidden.json["error"]) == (404, "UnknownJob")


async def test_without_a_history_there_is_nothing_to_search(bare: Served) -> None:
    for path in ("history", "history/x"):
        answer = await bare.get(path)
        assert (answer.status, "keeps no history" in answer.detail) == (404, True)
