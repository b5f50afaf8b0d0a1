"""The master is who the sentinels say it is."""

import asyncio

import pytest

from tests.servers.redis import tell
from tests.servers.redis_sentinel import NAME, Sentinels
from tests.stores.redis.transports import COUNT_ONCE, ONE, connected
from windlass.errors import StoreError, StoreUnavailable
from windlass.stores.redis.transport import open_transport
from windlass.stores.redis.url import parse


async def test_the_master_is_found(redis_sentinel: Sentinels) -> None:
    async with connected(redis_sentinel.url) as transport:
        assert (await transport.send(None, "ROLE"))[0] == b"master"
        assert await transport.run(5, ONE, [], []) == 1
        assert await transport.everywhere("PING") == [b"PONG"]


async def test_dead_sentinels_are_passed_over(redis_sentinel: Sentinels) -> None:
    alive = redis_sentinel.sentinels[0].port
    async with connected(f"redis+sentinel://127.0.0.1:1,127.0.0.1:{alive}/{NAME}") as transport:
        assert (await transport.send(None, "ROLE"))[0] == b"master"


async def test_a_failover_in_good_order_loses_and_doubles_nothing(
    redis_sentinel: Sentinels,
) -> None:
    redis_sentinel.flush()
    async with connected(redis_sentinel.url + "?patience=30") as transport:
        going = True

        async def work(name: str) -> None:
            number = 0
            while going:
                number += 1
                await transport.run(0, COUNT_ONCE, ["once"], [f"{name}.{number}"])

        working = [asyncio.create_task(work(name)) for name in "abc"]
        before = redis_sentinel.master()
        await asyncio.to_thread(redis_sentinel.failover)
        going = False
        await asyncio.gather(*working)
        assert redis_sentinel.master() is not before
        assert set(await transport.send(None, "HVALS", "once")) == {b"1"}


async def test_a_demoted_master_is_left(redis_sentinel: Sentinels) -> None:
    async with connected(redis_sentinel.url + "?patience=30") as transport:
        before = redis_sentinel.master()
        await asyncio.to_thread(redis_sentinel.failover)
        assert await transport.run(0, COUNT_ONCE, ["demoted"], ["x"]) in (b"first", b"again")
        assert tell(redis_sentinel.master().port, "HGET", "demoted", "x") == "1"
        assert redis_sentinel.master() is not before


async def test_a_killed_master_is_replaced(redis_sentinel: Sentinels) -> None:
    async with connected(redis_sentinel.url + "?patience=30") as transport:
        redis_sentinel.master().kill()
        try:
            assert await transport.run(0, ONE, [], []) == 1
            assert (await transport.send(None, "ROLE"))[0] == b"master"
        finally:
            await asyncio.to_thread(redis_sentinel.heal)


async def test_a_name_that_no_sentinel_knows_is_told(redis_sentinel: Sentinels) -> None:
    url = redis_sentinel.url.replace(f"/{NAME}", "/nobody")
    with pytest.raises(StoreError, match="knows no master named nobody"):
        await open_transport(parse(url), blocking=False).open()


async def test_a_server_that_is_no_sentinel_is_told(redis_sentinel: Sentinels) -> None:
    url = f"redis+sentinel://127.0.0.1:{redis_sentinel.master().port}/{NAME}"
    with pytest.raises(StoreError, match="unknown command"):
        await open_transport(parse(url), blocking=False).open()


async def test_sentinels_that_do_not_answer_are_told() -> None:
    url = f"redis+sentinel://127.0.0.1:1,127.0.0.1:2/{NAME}?patience=0.2"
    with pytest.raises(StoreUnavailable, match=r"127.0.0.1:[12] .*refused"):
        await open_transport(parse(url), blocking=False).open()
