"""Live events: of the store and of jobs."""

import asyncio
import logging

import pytest
from msgspec.structs import replace

from tests.server.conftest import Serve, Working
from tests.server.serving import Served
from tests.server.shop import Shop
from tests.server.stream import following
from windlass.core.workers import WorkerInfo
from windlass.errors import StoreUnavailable
from windlass.server import pulse
from windlass.server.http import sse
from windlass.testing.work import until


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks at the store come often."""
    monkeypatch.setattr(pulse.Pulse.__init__, "__defaults__", (0.02,))


async def test_the_store_is_told_at_once_and_whenever_it_changes(api: Served) -> None:
    await api.enqueue("greet", "Ada")
    async with following(api) as stream:
        name, data = await stream.next()
        assert name == "queues"
        assert [(queue["name"], queue["counts"]) for queue in data["queues"]] == [
            ("default", {"pending": 1})
        ]
        assert await stream.next() == ("workers", {"workers": []})
        await api.enqueue("add", 1)
        name, data = await stream.next()
        assert (name, [queue["name"] for queue in data["queues"]]) == (
            "queues",
            ["default", "sums"],
        )


async def test_workers_are_told_as_they_come(api: Served, working: Working) -> None:
    async with following(api) as stream:
        assert [(await stream.next())[0] for _ in range(2)] == ["queues", "workers"]
        async with working() as worker:
            name, data = await stream.next()
            assert (name, [each["id"] for each in data["workers"]]) == ("workers", [worker.id])


async def test_a_worker_that_is_quiet_now_is_news_and_a_beat_is_none(api: Served) -> None:
    info = WorkerInfo("w", "host", 1, ("*",), 4, 0)
    await api.store.beat(info, 60_000)
    async with following(api) as stream:
        assert [(await stream.next())[0] for _ in range(2)] == ["queues", "workers"]
        await api.store.beat(replace(info, memory=5), 60_000)
        await api.store.beat(replace(info, memory=6, quiet=True), 60_000)
        name, data = await stream.next()
        assert (name, data["workers"][0]["quiet"]) == ("workers", True)


async def test_a_job_is_followed_to_its_end(api: Served, shop: Shop, working: Working) -> None:
    id = await api.enqueue("gate")
    async with following(api, id) as stream:
        name, job = await stream.next()
        assert (name, job["id"], job["state"]) == ("job", id, "pending")
        async with working():
            assert (await stream.next())[1]["state"] == "active"
            shop.opened.set()
            rest = await stream.rest()
    assert [name for name, _ in rest] == ["job", "end"]
    assert rest[0][1]["state"] == "completed"


async def test_jobs_that_are_gone_or_over_are_told_as_such(api: Served) -> None:
    over = await api.enqueue("add", 1)
    await api.post(f"jobs/{over}/cancel")
    async with following(api, over, "nobody") as stream:
        first, second, end = await stream.rest()
    assert (first[1]["id"], first[1]["state"]) == (over, "cancelled")
    assert second == ("job", {"id": "nobody", "state": None})
    assert end == ("end", {})


async def test_a_deleted_job_ends_its_stream(api: Served) -> None:
    id = await api.enqueue("add", 1)
    async with following(api, id) as stream:
        await stream.next()
        await api("DELETE", f"jobs/{id}")
        assert await stream.rest() == [("job", {"id": id, "state": None}), ("end", {})]


async def test_many_follow_one_job_with_one_look(api: Served, shop: Shop, working: Working) -> None:
    id = await api.enqueue("gate")

    async def follow() -> list[str]:
        async with following(api, id) as stream:
            return [data.get("state", name) for name, data in await stream.rest()]

    followers = [asyncio.create_task(follow()) for _ in range(30)]
    await until(lambda: len(api.site.watcher._watched.get(id, NOBODY).waiting) == 30)
    async with working():
        await shop.entered.wait()
        shop.opened.set()
        assert {tuple(states)[-2:] for states in await asyncio.gather(*followers)} == {
            ("completed", "end")
        }
    assert not api.site.watcher._watched


class NOBODY:
    waiting: tuple[()] = ()


async def test_silence_is_filled_with_comments(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "ALIVE", 0.02)
    id = await api.enqueue("add", 1)
    async with following(api, id) as stream:
        assert await stream._block() == b"retry: 2000"
        await stream.next()
        assert await stream._block() == b": alive"


async def test_a_client_that_leaves_is_followed_no_longer(api: Served) -> None:
    id = await api.enqueue("add", 1)
    async with following(api, id) as stream:
        await stream.next()
        await until(lambda: id in api.site.watcher._watched)
    await until(lambda: id not in api.site.watcher._watched)
    async with following(api) as stream:
        await stream.next()
        await until(lambda: api.site.pulse._followers == 1)
    await until(lambda: api.site.pulse._followers == 0)


async def test_what_can_be_followed_is_bounded(api: Served) -> None:
    many = [("job", f"job-{number}") for number in range(101)]
    assert (await api.get("events", params=many)).status in (400, 422)
    assert (await api.get("events", params={"job": " "})).status == 422
    assert (await api.get("events", params={"queue": "a"})).status == 400


async def test_an_outage_before_the_first_event_is_an_answer(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StoreUnavailable("gone")

    for method in ("get", "queues"):
        monkeypatch.setattr(api.store, method, away)
    assert (await api.get("events")).status == 503
    assert (await api.get("events", params={"job": "x"})).status == 503


async def test_an_outage_while_following_ends_the_stream_and_no_more(
    api: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    id = await api.enqueue("add", 1)

    async def away(*_: object) -> None:
        raise StoreUnavailable("gone")

    with caplog.at_level(logging.WARNING):
        async with following(api, id) as stream:
            await stream.next()
            await until(lambda: id in api.site.watcher._watched)
            with monkeypatch.context() as broken:
                broken.setattr(api.site.watcher, "changes", away)
                await api.store.reschedule([id], 60_000)
                (told, *_) = await stream.rest()
    assert told[1]["state"] == "scheduled"
    assert "a stream of events ends: gone" in caplog.text
    assert "Traceback" not in caplog.text
    assert (await api.get(f"jobs/{id}")).status == 200


async def test_streams_end_when_the_server_stops(serve: Serve, shop: Shop) -> None:
    api = await serve(shop)
    id = await api.enqueue("add", 1)
    async with following(api, id) as jobs, following(api) as store:
        await jobs.next()
        await store.next()
        stopping = asyncio.create_task(api.server.stop())
        assert "end" not in [name for name, _ in await jobs.rest()]
        await store.rest()
        await stopping


async def test_the_head_of_a_stream_is_answered_and_ends(api: Served) -> None:
    answer = await api("HEAD", "events")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    # The connection is not stuck behind it.
    assert (await api.get("/livez")).status == 200
