"""Several servers on one store: they behave as one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.server.conftest import Serve
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass.testing.work import work

Pair = tuple[Served, Served]


@pytest.fixture
async def shops(tmp_path: Path) -> AsyncIterator[tuple[Shop, Shop]]:
    """Two apps with connections of their own to one file."""
    url = f"sqlite:///{tmp_path}/jobs.db"
    made = Shop(url), Shop(url)
    yield made
    for shop in made:
        await shop.aclose()


@pytest.fixture
async def pair(serve: Serve, shops: tuple[Shop, Shop]) -> Pair:
    first, second = [await serve(shop, key_refresh=0.05, upkeep=True) for shop in shops]
    return first, second


async def test_what_one_stores_the_other_shows(pair: Pair, shops: tuple[Shop, Shop]) -> None:
    first, second = pair
    id = await first.enqueue("add", 1)
    assert (await second.get(f"jobs/{id}")).json["state"] == "pending"
    waiting = asyncio.create_task(second.get(f"jobs/{id}/result", params={"wait": "60"}))
    await work(shops[0], EVERY_QUEUE)
    assert (await waiting).json["result"] == 3
    assert (await first.post("queues/sums/pause")).status == 200
    assert (await second.get("queues/sums")).json["paused"] is True


async def test_a_request_is_carried_out_once_whoever_gets_it(pair: Pair) -> None:
    asked = {"task": "greet", "args": ["Ada"]}
    headers = {"Idempotency-Key": "order 7"}
    answers = await asyncio.gather(
        *(each.post("jobs", asked, headers=headers) for each in pair * 10)
    )
    assert sorted(answer.status for answer in answers) == [200] * 19 + [201]
    assert len({answer.json["id"] for answer in answers}) == 1
    other = await pair[1].post("jobs", asked | {"args": ["Bob"]}, headers=headers)
    assert other.status == 422
    assert await pair[0].number() == 1


async def test_a_listing_goes_on_at_the_other(pair: Pair) -> None:
    first, second = pair
    made = [await first.enqueue("greet", str(number)) for number in range(5)]
    page = (await first.get("jobs", params={"limit": "3"})).json
    rest = (await second.get("jobs", params={"cursor": page["cursor"]})).json
    assert [job["id"] for job in page["jobs"] + rest["jobs"]] == made


async def test_a_key_counts_and_is_revoked_on_both(pair: Pair) -> None:
    first, second = pair
    key = await first.add_key("read")
    async with asyncio.timeout(20):
        while (await second.get("jobs")).status != 401:
            await asyncio.sleep(0.01)
    assert (await second.get("jobs", key=key)).status == 200
    await second.store.drop_keys([key.split("_")[1]])
    async with asyncio.timeout(20):
        for each in pair:
            while (await each.get("jobs", key=key)).status != 401:
                await asyncio.sleep(0.01)


async def test_the_other_goes_on_when_one_stops(pair: Pair) -> None:
    first, second = pair
    id = await first.enqueue("add", 1)
    await first.server.stop()
    assert (await second.get(f"jobs/{id}")).json["state"] == "pending"
    assert (await second.get("/readyz")).status == 200


async def test_two_servers_cannot_have_one_port(serve: Serve, pair: Pair) -> None:
    from windlass.errors import ConfigError

    with pytest.raises(ConfigError, match=r"127\.0\.0\.1:\d+ cannot be listened on: .*in use"):
        await serve(http_port=pair[0].port)
