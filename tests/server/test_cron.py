"""Schedules by the API."""

from typing import Any

import pytest

from tests.server.conftest import Serve
from tests.server.serving import EVERY_QUEUE, Served
from tests.server.shop import Shop
from windlass.core.clock import system_clock
from windlass.testing.work import until, work

DAILY = {"text": "0 9 * * mon-fri", "job": {"task": "add", "args": [1]}}


async def put(api: Served, name: str = "daily", **changes: Any) -> Any:
    return await api("PUT", f"cron/{name}", DAILY | changes)


async def test_a_schedule_is_added_shown_and_listed(api: Served) -> None:
    answer = await put(api, timezone="Europe/Berlin", missed="last", overlap="skip")
    assert answer.status == 200, answer
    shown = (await api.get("cron/daily")).json
    assert answer.json == shown
    assert (shown["task"], shown["queue"], shown["priority"]) == ("add", "sums", 80)
    assert (shown["text"], shown["timezone"]) == ("0 9 * * mon-fri", "Europe/Berlin")
    assert (shown["missed"], shown["overlap"]) == ("last", "skip")
    assert (shown["paused"], shown["declared"], shown["last_at"]) == (False, False, None)
    assert shown["next_at"].endswith("Z")
    assert (await api.get("cron")).json["schedules"] == [shown]


async def test_a_schedule_is_changed_in_place(api: Served) -> None:
    await put(api)
    await api.post("cron/daily/pause")
    assert (await put(api, text="*/5 * * * *")).json["text"] == "*/5 * * * *"
    shown = (await api.get("cron/daily")).json
    # A pause is the store's own and stays.
    assert (shown["paused"], shown["next_at"]) == (True, None)


async def test_a_schedule_is_paused_and_goes_on(api: Served) -> None:
    await put(api)
    assert (await api.post("cron/daily/pause")).json["paused"] is True
    assert (await api.post("cron/daily/resume")).json["paused"] is False


async def test_a_schedule_is_triggered_besides_its_ticks(api: Served, shop: Shop) -> None:
    await put(api)
    made = await api.post("cron/daily/trigger")
    assert made.status == 201
    await work(shop, EVERY_QUEUE)
    assert (await api.get(f"jobs/{made.json['id']}/result")).json["result"] == 3


async def test_a_schedule_is_removed(api: Served) -> None:
    await put(api)
    assert (await api("DELETE", "cron/daily")).status == 204
    assert (await api.get("cron")).json == {"schedules": []}


@pytest.mark.parametrize("name", ["nobody", "a%2Fb"])
async def test_a_schedule_that_is_not_there_is_404(api: Served, name: str) -> None:
    for method, path in [
        ("GET", ""),
        ("DELETE", ""),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/trigger"),
    ]:
        answer = await api(method, f"cron/{name}{path}")
        assert (answer.status, answer.json["error"]) == (404, "UnknownSchedule")


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"text": "every morning"}, 422, "every morning"),
        ({"text": ""}, 400, "text"),
        ({"timezone": "Mars/Olympus"}, 422, "Mars/Olympus"),
        ({"missed": "never"}, 400, "never"),
        ({"job": {"task": "unknown"}}, 422, "No task named unknown"),
        ({"job": {"task": "add", "args": [1], "delay": 5}}, 422, "cannot have id, delay"),
        ({"job": {"task": "add", "args": [1], "id": "x"}}, 422, "cannot have id, delay"),
        ({"job": {"task": "add", "args": [1], "unique": "x"}}, 422, "cannot have id, delay"),
        ({"when": "now"}, 400, "unknown field"),
    ],
)
async def test_a_schedule_that_cannot_be_is_not_added(
    api: Served, changes: Any, status: int, said: str
) -> None:
    answer = await put(api, **changes)
    assert (answer.status, said in answer.detail) == (status, True), answer.body
    assert (await api.get("cron")).json == {"schedules": []}


async def test_what_cannot_be_the_name_of_a_schedule_is_422(api: Served) -> None:
    for name in ("%20", "%00", "a" * 101):
        assert (await put(api, name)).status == 422
    assert (await api.get("cron/%00")).status == 422


async def test_a_schedule_of_the_app_is_marked_as_such(api: Served, shop: Shop) -> None:
    shop.cron("0 9 * * *", name="declared")(shop.tasks["refuse"])
    await api.store.put_schedules([*shop.registry.schedules.values()])
    assert (await api.get("cron/declared")).json["declared"] is True


async def test_a_part_of_a_schedule_is_changed_and_the_rest_stays(api: Served) -> None:
    await put(api, timezone="Europe/Berlin", overlap="skip")
    answer = await api("PATCH", "cron/daily", {"text": "*/5 * * * *", "missed": "all"})
    shown = answer.json
    assert (answer.status, shown["text"], shown["missed"]) == (200, "*/5 * * * *", "all")
    assert (shown["timezone"], shown["overlap"]) == ("Europe/Berlin", "skip")
    assert (shown["task"], shown["args"], shown["kwargs"]) == ("add", [1], {})
    job = {"task": "greet", "kwargs": {"name": "Ada"}}
    assert (await api("PATCH", "cron/daily", {"job": job})).json["kwargs"] == {"name": "Ada"}
    assert (await api("PATCH", "cron/daily", {})).json["task"] == "greet"
    for body, status in (({"text": "x"}, 422), ({"paused": True}, 400), ({"missed": "x"}, 400)):
        assert (await api("PATCH", "cron/daily", body)).status == status
    assert (await api("PATCH", "cron/nobody", {"text": "@daily"})).status == 404


async def test_a_schedule_tells_its_next_ticks_and_says_what_they_are(api: Served) -> None:
    shown = (await put(api)).json
    assert shown["words"] == "At 09:00 on Monday through Friday"
    assert len(shown["coming"]) == 5
    assert shown["coming"] == sorted(shown["coming"])
    assert (shown["coming"][0], shown["coming"][0][11:]) == (shown["next_at"], "09:00:00.000Z")
    every = (await put(api, "often", text="@every 90s")).json
    assert every["words"] == "Every 90s"
    assert len(every["coming"]) == 5
    paused = (await api.post("cron/daily/pause")).json
    assert (paused["next_at"], len(paused["coming"])) == (None, 5)


async def test_a_schedule_tells_what_became_of_its_last_tick(api: Served, shop: Shop) -> None:
    await put(api, text="@every 1s")
    assert (await api.get("cron/daily")).json["last"] is None
    (schedule,) = await api.store.schedules()
    tick = schedule.timetable.after(schedule.last)
    await until(lambda: system_clock() >= tick)
    receipt = await api.store.tick(schedule, tick)
    assert receipt is not None
    await work(shop, EVERY_QUEUE)
    last = (await api.get("cron/daily")).json["last"]
    assert (last["id"], last["state"]) == (receipt.id, "completed")
    assert 0 <= last["lag"] < 60
    assert last["created_at"] <= last["started_at"] <= last["finished_at"]
    await api("DELETE", f"jobs/{receipt.id}")
    gone = (await api.get("cron/daily")).json
    assert (gone["job"], gone["last"]) == (receipt.id, None)


async def test_arguments_of_a_schedule_are_hidden_as_those_of_a_job(
    serve: Serve, shop: Shop
) -> None:
    api = await serve(shop, redact=("a",))
    assert (await put(api)).json["args"] == ["***"]


async def test_a_timetable_is_explained_before_it_is_used(api: Served) -> None:
    params = {"text": "30 8 * * 1", "timezone": "Europe/Berlin"}
    answer = (await api.get("timetable", params=params)).json
    assert answer["words"] == "At 08:30 on Monday"
    assert len(answer["coming"]) == 5
    for wrong in ({"text": "every day"}, {"text": "0 0 30 2 *"}, {"timezone": "Mars/Base"}):
        assert (await api.get("timetable", params=wrong)).status == 422


async def test_large_arguments_are_shown_of_one_schedule_alone(api: Served) -> None:
    text = "x" * 100_000
    await put(api, job={"task": "greet", "args": [text]})
    assert (await api.get("cron/daily")).json["args"] == [text]
    answer = await api.get("cron")
    assert answer.json["schedules"][0]["args"] is None
    assert len(answer.body) < 10_000
