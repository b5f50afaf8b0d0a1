"""Everything at a glance: queues, workers, rates, and what needs somebody."""

import asyncio
from typing import Any

import msgspec
import pytest

from tests.server.conftest import Serve, Working
from tests.server.serving import Served
from tests.server.shop import Shop
from windlass.admin.doctor import diagnose, examine
from windlass.core.clock import system_clock
from windlass.core.stats import COARSE, FINE, Tally, bucket, timed
from windlass.core.workers import WorkerInfo
from windlass.errors import StoreUnavailable
from windlass.server import panorama, trend


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each request is a look of its own."""
    monkeypatch.setattr(panorama, "LASTS", 0.0)


async def overview(api: Served, **options: Any) -> Any:
    answer = await api.get("overview", **options)
    assert answer.status == 200, answer
    return answer.json


async def test_queues_are_shown_with_their_workers_and_all_together(
    api: Served, working: Working
) -> None:
    await api.enqueue("greet", "Ada", queue="a", delay=60)
    await api.enqueue("greet", "Ada", queue="b", delay=60)
    await api.enqueue("add", 1, delay=60)
    found = await overview(api)
    assert [queue["name"] for queue in found["queues"]] == ["a", "b", "sums"]
    assert found["queues"][0]["counts"] == {"scheduled": 1}
    assert found["totals"] == {"scheduled": 3}
    assert found["crew"] == {"workers": 0, "quiet": 0, "slots": 0, "active": 0}
    assert {queue["workers"] for queue in found["queues"]} == {0}
    async with working():
        found = await overview(api)
        assert (found["crew"]["workers"], found["crew"]["slots"]) == (1, 100)
        assert {queue["workers"] for queue in found["queues"]} == {1}


async def test_a_rate_is_what_was_done_in_the_last_whole_minute(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.enqueue("greet", "Ada", queue="a", delay=60)
    await api.store.tally("w", 1, [Tally("a", {"completed": 7}), Tally("b", {"completed": 5})])
    now = api.store.now

    async def later() -> int:
        return await now() + FINE

    found = await overview(api)
    assert (found["rate"], found["queues"][0]["rate"]) == (0.0, 0.0)
    monkeypatch.setattr(api.store, "now", later)
    found = await overview(api)
    assert (found["rate"], found["queues"][0]["rate"]) == (12.0, 7.0)


async def test_of_too_many_queues_the_fullest_have_a_rate(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panorama, "MOST_COUNTED", 1)
    for queue in ("a", "b", "b"):
        await api.enqueue("greet", "Ada", queue=queue)
    rates = {queue["name"]: queue["rate"] for queue in (await overview(api))["queues"]}
    assert rates == {"a": None, "b": 0.0}


async def test_what_needs_attention_is_told_with_where_to_look(api: Served) -> None:
    await api.enqueue("greet", "Ada", queue="a/b")
    await api.enqueue("greet", "Ada", queue="c")
    await api.post("queues/c/pause")
    told = (await overview(api))["attention"]
    assert [(each["kind"], each["queue"], each["link"]) for each in told] == [
        ("no_worker", "a/b", "ui/queues/a%2Fb"),
        ("paused", "c", "ui/queues/c"),
    ]
    assert "No worker" in told[0]["text"]
    await api.store.tally("w", 1, [Tally("c", {"failed": 50, "completed": 1})])
    told = (await overview(api))["attention"]
    assert ("failing", "ui/jobs?queue=c") in [(each["kind"], each["link"]) for each in told]


async def test_workers_whom_nobody_leads_need_somebody(api: Served) -> None:
    now = await api.store.now()
    await api.store.beat(WorkerInfo("w", "host", 1, ("*",), 1, now - 60_000), 60_000)
    (told,) = (await overview(api))["attention"]
    assert (told["kind"], told["link"]) == ("upkeep", "ui/workers")
    found = diagnose(await examine(api.store, system_clock))
    assert [each.text for each in found if each.kind == "attention"] == [told["text"]]
    await api.store.elect("upkeep", "w", 10_000)
    assert (await overview(api))["attention"] == []


async def test_a_key_with_queues_has_an_overview_of_these(api: Served) -> None:
    for queue in ("ours", "theirs"):
        await api.enqueue("greet", "Ada", queue=queue)
    tallies = [Tally("ours", {"completed": 3}), Tally("theirs", {"completed": 5})]
    await api.store.tally("w", 1, tallies)
    key = await api.add_key("read", queues=["ours"])
    found = await overview(api, key=key)
    assert [queue["name"] for queue in found["queues"]] == ["ours"]
    assert (found["totals"], {each["queue"] for each in found["attention"]}) == (
        {"pending": 1},
        {"ours"},
    )
    stats = (await api.get("stats", key=key)).json
    assert sum(point["completed"] for point in stats["points"]) == 3
    assert (await api.get("stats", params={"queue": "theirs"}, key=key)).json["points"] == []


async def test_one_look_serves_all_who_ask_at_the_same_time(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api.site.lookout, "lasts", 60.0)
    looks = 0
    queues = api.store.queues

    async def counted() -> Any:
        nonlocal looks
        looks += 1
        return await queues()

    monkeypatch.setattr(api.store, "queues", counted)
    await asyncio.gather(*(overview(api) for _ in range(20)))
    await overview(api)
    assert looks == 1


async def test_a_look_that_failed_is_not_remembered(
    serve: Serve, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await serve(shop)
    monkeypatch.setattr(api.site.lookout, "lasts", 60.0)

    async def away() -> None:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as broken:
        broken.setattr(api.store, "schedules", away)
        assert (await api.get("overview")).status == 503
    assert (await api.get("overview")).status == 200


async def test_what_each_queue_has_done_is_told_step_by_step_with_one_call_of_the_store(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    for queue in ("a", "b", "b", "c"):
        await api.enqueue("greet", "Ada", queue=queue, delay=60)
    await api.store.tally("w", 1, [Tally("a", {"completed": 7}), Tally("b", {"failed": 2})])
    asked: list[Any] = []
    stats = api.store.stats

    async def counted(*args: Any) -> Any:
        asked.append(args)
        return await stats(*args)

    monkeypatch.setattr(api.store, "stats", counted)
    monkeypatch.setattr(trend, "MOST_DRAWN", 2)
    found = [(await api.get("stats/queues")).json for _ in range(3)]
    assert found[0]["step"] == COARSE / 1000
    assert found[0]["queues"] == {"a": [0] * 24 + [7], "b": [0] * 25}
    assert len(asked) == 1
    key = await api.add_key("read", queues=["c"])
    assert (await api.get("stats/queues", key=key)).json["queues"] == {"c": [0] * 25}


async def test_what_was_done_is_told_by_time(api: Served) -> None:
    counts = {"completed": 9, "failed": 2, "retried": 1, "dead": 1, timed("run", 0.3): 10}
    await api.store.tally("w", 1, [Tally("a", counts), Tally("b", {"completed": 1})])
    for span, step in (("hour", FINE), ("day", COARSE)):
        for params, completed in (({}, 10), ({"queue": "a"}, 9), ({"queue": "none"}, None)):
            answer = (await api.get("stats", params={"span": span, **params})).json
            assert answer["step"] == step / 1000
            assert answer["since"] < answer["until"]
            if completed is None:
                assert answer["points"] == []
                assert answer["run"] == answer["wait"] == {"p50": None, "p95": None, "p99": None}
                continue
            (point,) = answer["points"]
            assert (point["completed"], point["failed"], point["dead"]) == (completed, 2, 1)
            assert (point["retried"], point["cancelled"], point["rescued"]) == (1, 0, 0)
            assert point["at"].endswith("Z")
            assert 0.25 < answer["run"]["p50"] <= answer["run"]["p99"] <= 0.5
            assert answer["wait"]["p50"] is None
    assert bucket(FINE, await api.store.now()) % FINE == 0
    assert (await api.get("stats", params={"span": "year"})).status == 400
    assert (await api.get("stats", params={"queue": "\0"})).status == 422


async def test_workers_tell_whether_they_are_quiet_and_how_large(api: Served) -> None:
    info = WorkerInfo("w-1", "host", 1, ("*",), 4, 0, 2, memory=1024, quiet=True)
    info = msgspec.structs.replace(info, fault="It is stuck.", completed=7, failed=1)
    await api.store.beat(info, 60_000)
    await api.store.beat(WorkerInfo("w-2", "host", 2, ("*",), 4, 0), 60_000)
    first, second = (await api.get("workers")).json["workers"]
    assert (first["memory"], first["quiet"]) == (1024, True)
    assert (first["fault"], first["completed"], first["failed"]) == ("It is stuck.", 7, 1)
    assert (second["memory"], second["quiet"]) == (None, False)
    assert (second["fault"], second["completed"], second["failed"]) == (None, 0, 0)
    crew = (await overview(api))["crew"]
    assert crew == {"workers": 2, "quiet": 1, "slots": 8, "active": 2}


async def test_workers_are_told_to_be_quiet_to_go_on_and_to_stop(api: Served) -> None:
    info = WorkerInfo("w-1", "host", 1, ("mail",), 4, 0)
    await api.store.beat(info, 60_000)
    for verb, order in (("quiet", "quiet"), ("resume", "work"), ("stop", "stop")):
        assert (await api.post(f"workers/w-1/{verb}")).status == 204
        assert await api.store.beat(info, 60_000) == order
        gone = await api.post(f"workers/nobody/{verb}")
        assert (gone.status, "There is no worker nobody" in gone.detail) == (404, True)
        assert (await api.post(f"workers/%20/{verb}")).status == 422


async def test_a_key_with_queues_directs_only_workers_of_these(api: Served) -> None:
    for id, queues in (("own", ("mail",)), ("shared", ("mail", "bills")), ("other", ("bills",))):
        await api.store.beat(WorkerInfo(id, "host", 1, queues, 4, 0), 60_000)
    key = await api.add_key("operate", queues=["mail"])
    for id, status in (("own", 204), ("shared", 403), ("other", 404)):
        assert (await api.post(f"workers/{id}/quiet", key=key)).status == status, id
