"""Dead letters: grouped by their errors, replayed and deleted together."""

import json
from typing import Any

import aiohttp
import pytest

from tests.server.conftest import Serve
from tests.server.serving import EVERY_QUEUE, Answer, Served
from tests.server.shop import Shop
from windlass.core.model import JobQuery, Page
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.server.http import dead
from windlass.testing.work import work


async def fill(api: Served, shop: Shop) -> None:
    """Three dead jobs of one fault, two of another, in two queues."""
    for number in range(3):
        await api.enqueue("refuse", f"order {number} is gone")
    for queue in ("default", "mail"):
        await api.enqueue("refuse", "the printer is on fire", queue=queue)
    await work(shop, EVERY_QUEUE)


async def test_dead_jobs_are_grouped_by_what_killed_them(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    answer = (await api.get("dead/groups")).json
    assert (answer["looked_at"], answer["complete"]) == (5, True)
    first, second = answer["groups"]
    assert (first["count"], first["pattern"]) == (3, "order … is gone")
    assert (second["count"], second["pattern"]) == (2, "the printer is on fire")
    assert (first["task"], first["kind"]) == ("refuse", "Fatal")
    assert first["first_at"] <= first["last_at"]
    assert first["last_at"].endswith("Z")
    sample = (await api.get(f"jobs/{first['sample']}")).json
    assert sample["fingerprint"] == first["fingerprint"]
    assert sample["finished_at"] == first["last_at"]


async def test_groups_may_be_of_one_queue_and_task(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    (group,) = (await api.get("dead/groups", params={"queue": "mail", "task": "refuse"})).json[
        "groups"
    ]
    assert group["count"] == 1
    assert (await api.get("dead/groups", params={"task": "add"})).json["groups"] == []
    assert (await api.get("dead/groups", params={"queue": "\0"})).status == 422


async def test_all_of_a_group_are_replayed(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    group = (await api.get("dead/groups")).json["groups"][0]
    done = await api.post("dead/replay", {"fingerprint": group["fingerprint"]})
    assert (done.status, done.json["changed"], done.json["more"]) == (200, 3, False)
    assert (await api.number(State.PENDING), await api.number(State.DEAD)) == (3, 2)


async def test_all_that_match_are_deleted(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    await api.enqueue("refuse", "still alive")
    assert (await api.post("dead/delete", {"queue": "mail"})).json["changed"] == 1
    limited = (await api.post("dead/delete", {"most": 2})).json
    assert (limited["changed"], limited["left"], limited["more"]) == (2, 0, True)
    assert (await api.post("dead/delete", {})).json["changed"] == 2
    assert (await api.number(State.PENDING), await api.number(State.DEAD)) == (1, 0)


async def test_what_to_do_with_the_dead_must_be_said(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    for path in ("dead/replay", "dead/delete"):
        assert (await api.post(path)).status == 415
        assert (await api.post(path, {"fingerprints": "x"})).status == 400
        assert (await api.post(path, {"fingerprint": "none"})).json["changed"] == 0
    assert await api.number(State.DEAD) == 5


def lines(answer: Answer) -> list[Any]:
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="dead.jsonl"'
    return [json.loads(line) for line in answer.body.splitlines()]


async def test_dead_jobs_are_taken_away_a_line_each(
    api: Served, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(api, shop)
    monkeypatch.setattr(dead, "AT_ONCE", 2)
    found = lines(await api.get("dead/export"))
    assert len({job["id"] for job in found}) == 5
    assert {job["state"] for job in found} == {"dead"}
    assert "order 0 is gone" in {job["args"][0] for job in found}
    group = (await api.get("dead/groups")).json["groups"][1]
    params = {"fingerprint": group["fingerprint"], "queue": "mail", "task": "refuse"}
    (only,) = lines(await api.get("dead/export", params=params))
    assert (only["queue"], only["error"]["message"]) == ("mail", "the printer is on fire")
    assert lines(await api.get("dead/export", params={"queue": "none"})) == []
    assert (await api("HEAD", "dead/export")).status == 200
    assert (await api.get("dead/export", params={"queue": "\0"})).status == 422


async def test_what_is_taken_away_hides_what_is_hidden(serve: Serve, shop: Shop) -> None:
    api = await serve(shop, redact=("reason",))
    await fill(api, shop)
    assert {tuple(job["args"]) for job in lines(await api.get("dead/export"))} == {("***",)}


async def test_half_a_file_does_not_look_like_a_whole_one(
    api: Served, shop: Shop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(api, shop)
    monkeypatch.setattr(dead, "AT_ONCE", 2)
    find, looks = api.store.find, 0

    async def failing(query: JobQuery) -> Page:
        nonlocal looks
        looks += 1
        if looks > 1:
            raise StoreUnavailable("gone")
        return await find(query)

    with monkeypatch.context() as broken:
        broken.setattr(api.store, "find", failing)
        with pytest.raises(aiohttp.ClientPayloadError):
            await api.get("dead/export")
        assert "ends before its time: gone" in caplog.text
        assert (await api.get("dead/export")).status == 503
    assert len(lines(await api.get("dead/export"))) == 5


async def test_a_key_with_queues_takes_away_its_own(api: Served, shop: Shop) -> None:
    await fill(api, shop)
    key = await api.add_key("read", queues=["mail"])
    (only,) = lines(await api.get("dead/export", key=key))
    assert only["queue"] == "mail"
    assert lines(await api.get("dead/export", params={"queue": "default"}, key=key)) == []
